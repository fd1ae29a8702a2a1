import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import {
  comparedText,
  hasWords,
  searchedLabels,
  searchWords,
} from "../../../../src/core/search/search.ts";
import { indexTail, searchMessages } from "../../../../src/store/search.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines } from "../../../helpers/engines.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { testSize } from "../../../helpers/size.ts";
import { startProgram } from "../../../helpers/start-program.ts";

describeEngines("processes that are killed while they index", (engine) => {
  it("[SEARCH-11] leave an index in which a search finds what a scan finds", async () => {
    const database = await engine.create();
    const random = seededRandom("search-killed");
    for (let kill = 0; kill < testSize("search-killed"); kill += 1) {
      const programs = [1, 2].map(() => startProgram("search-index.ts", [database.location]));
      await Promise.all(programs.map((running) => running.waitFor(/ready/)));
      await sleep(400 * random());
      for (const { child } of programs) {
        child.kill("SIGKILL");
      }
      await Promise.all(programs.map(({ finished }) => finished));
    }
    const store = await database.open();
    while ((await indexTail(store)) !== null) {
      // until all is indexed
    }
    for (const query of ["message", "round 1", "name", '"message 3 of"', "nowhere"]) {
      expect(await found(store, query), query).toEqual(await scanned(store, query));
    }
  });
});

async function found(store: Store, query: string): Promise<string[]> {
  const all: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await searchMessages(store, { query, limit: 50, cursor });
    all.push(...page.results.map(({ session_id, seq }) => `${session_id} ${seq ?? 0}`));
    if (page.next === null) {
      return all.toSorted();
    }
    cursor = page.next;
  }
}

function scanned(store: Store, query: string): Promise<string[]> {
  const words = searchWords(query);
  return store.read(async ({ db }) => {
    const messages = await db
      .selectFrom("messages")
      .select(["session_id", "seq", "content"])
      .execute();
    const sessions = await db.selectFrom("sessions").select(["id", "name", "title"]).execute();
    return [
      ...messages.map(({ session_id, seq, content }) => ({
        key: `${session_id} ${seq}`,
        text: content,
      })),
      ...sessions.map(({ id, name, title }) => ({
        key: `${id} 0`,
        text: searchedLabels(name, title),
      })),
    ]
      .filter(({ text }) => hasWords(comparedText(text), words))
      .map(({ key }) => key)
      .toSorted();
  }, null);
}
