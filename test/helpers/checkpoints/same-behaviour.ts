import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../../src/langgraph/reprise-saver.ts";
import { createDatabase } from "../database.ts";
import { testSize } from "../size.ts";
import { DURABILITIES, record, type Scenario } from "./recording.ts";

/**
 * Runs a scenario with MemorySaver and with ours, and compares everything: for each durability in
 * the tortures, and for one of them, different ones for different titles, in `npm test`.
 */
export function itBehavesTheSame(title: string, scenario: Scenario): void {
  const from = title.length % DURABILITIES.length;
  const durabilities = [...DURABILITIES, ...DURABILITIES].slice(from, from + testSize("foreign"));
  it.each(durabilities)(`${title}, with durability %s`, async (durability) => {
    const expected = await record(scenario, { saver: new MemorySaver(), durability });
    await using database = await createDatabase();
    await using saver = new RepriseSaver(database.location);
    const seen = await record(scenario, { saver, durability });
    // a comparison member by member of what is equal costs more than the scenario
    if (JSON.stringify(seen) !== JSON.stringify(expected)) {
      expect(seen).toEqual(expected);
    }
  });
}
