import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { tool } from "@langchain/core/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** Each payment is a line of the file, which nobody but the tool writes. */
function payTool(log: string) {
  return tool(
    ({ what }) => {
      appendFileSync(log, `${what}\n`);
      return `paid ${what}`;
    },
    { name: "pay", description: "Pays.", schema: z.object({ what: z.string() }) },
  );
}

const CALLS = ["rent", "food"].map((what) => ({
  name: "pay",
  arguments: JSON.stringify({ what }),
}));

it("[QUESTION-3] a call that may take effect is run once, whichever write its process dies at, and run if it had not begun", async () => {
  const log = join(temporaryFolder(), "paid");
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user" ? { toolCalls: CALLS } : { content: "done" },
  });
  const bench = await openBench(server, {}, { programTools: [payTool(log)] });
  const live = { listener: () => undefined, signal: new AbortController().signal };
  const linesOf = () =>
    existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : [];
  const outcomes: Record<string, string> = {};
  let isOver = false;
  // the first writes begin the exchange and store the question
  for (let at = 3; !isOver; at += 1) {
    for (const when of ["before", "after"] as const) {
      const { id } = await bench.store.write(createSession, { permission: "all" });
      const before = linesOf().length;
      const dying = dyingStore(bench.store, at, when);
      const run = createExchanger({ ...bench.parts, store: dying.store }).exchange(
        { session_id: id, text: "pay" },
        live,
      );
      const ended = await Promise.race([dying.dead, run]);
      isOver = ended !== undefined;
      if (!isOver) {
        const atDeath = linesOf().slice(before);
        const { activity } = await bench.store.read(readSession, { id });
        if (activity !== "idle") {
          await createExchanger(bench.parts).exchange(
            { session_id: id, text: null, when_busy: "take_over" },
            live,
          );
        }
        const rows = await bench.store.read(readDetail, { reference: id, all: true });
        const results = rows.messages.flatMap(({ role, content }) =>
          role === "tool" ? [content] : [],
        );
        const paid = linesOf().slice(before);
        const point = `${when} write ${at}`;
        expect(new Set(paid).size, point).toBe(paid.length);
        // a call that had begun may get its result before one that had not
        const known = [OUTCOME_UNKNOWN, ...paid.map((what) => `paid ${what}`)];
        for (const result of results) {
          expect(result, point).toBeOneOf(known);
        }
        outcomes[point] = `${atDeath.length} ${paid.length}`;
        expect((await verifySession(bench.store, id)).findings, point).toEqual([]);
        dying.bury();
        await run.catch(() => undefined);
      }
    }
  }
  // at some points nothing had been paid and all was paid then, at some all had been
  const seen = Object.values(outcomes);
  expect(seen).toEqual(expect.arrayContaining(["0 2", "2 2"]) as unknown[]);
  // and at some it is unknown: how far each of the two calls had come depends on the database
  expect(seen).toContainEqual(expect.stringMatching(/ [01]$/));
  expect(server.refused()).toEqual([]);
});
