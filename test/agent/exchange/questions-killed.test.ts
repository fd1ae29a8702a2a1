import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createDatabase } from "../../helpers/database.ts";
import { monthBack } from "../../helpers/month-back.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const paying = (name: string, what: string) => ({ name, arguments: JSON.stringify({ what }) });

describe("processes that are killed around a question", () => {
  it("[QUESTION-12] [QUESTION-3] asked by one, answered a month later over a second, and run once by a third", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        messages.at(-1)?.role === "user"
          ? { toolCalls: [paying("pay", "rent"), paying("pay_unasked", "food")] }
          : { content: "done" },
    });
    const { database, store } = await openDatabase();
    const { id } = await store.write(createSession, { permission: "all" });
    const log = join(temporaryFolder(), "paid");
    const start = (text: string, stuck: string) =>
      startProgram("exchange-ask.ts", [database, id, text, log, stuck], {
        env: { ...server.env("openai"), REPRISE_MODEL: "openai:test" },
      });
    const first = start("pay", "food");
    await first.waitFor(/paid food/);
    const question = await openQuestion(store, id);
    await first.stop();
    expect((await verifySession(store, id)).findings).toEqual([]);
    await monthBack(store);
    const given = { given: { choice: "allow_once" }, note: null, answered_by: "http" } as const;
    await store.write(answerQuestion, { reference: id, question, ...given });

    // killed again, while it pays with the answer
    const second = start("", "rent");
    await second.waitFor(/paid rent/);
    await second.stop();
    const third = await start("", "").finished;
    expect(third.stdout).toContain('{"state":"done","answer":"done"}');
    expect(readFileSync(log, "utf8")).toBe("food\nrent\n");
    const results = server
      .requests()
      .at(-1)
      ?.filter(({ role }) => role === "tool");
    expect(results?.map(({ content }) => content)).toEqual([OUTCOME_UNKNOWN, OUTCOME_UNKNOWN]);
    expect(server.requests()).toHaveLength(2);
    expect(server.refused()).toEqual([]);
    expect(await store.read(listExchanges, { reference: id, limit: 9 })).toMatchObject([
      { n: 1, state: "done" },
    ]);
    expect((await verifySession(store, id)).findings).toEqual([]);
  });

  it("[QUESTION-12] parked by one that is gone, continued by another", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        messages.at(-1)?.role === "user"
          ? { toolCalls: [paying("pay", "rent")] }
          : { content: messages.at(-1)?.content ?? "" },
    });
    const { database, store } = await openDatabase();
    const { id } = await store.write(createSession, { permission: "all" });
    const log = join(temporaryFolder(), "paid");
    const run = (text: string) =>
      startProgram("exchange-ask.ts", [database, id, text, log], {
        env: { ...server.env("openai"), REPRISE_MODEL: "openai:test" },
      }).finished;
    expect((await run("pay")).stdout).toContain('"waiting"');
    const given = { given: { choice: "allow_once" }, note: null, answered_by: "http" } as const;
    const question = await openQuestion(store, id);
    await store.write(answerQuestion, { reference: id, question, ...given });
    expect((await run("")).stdout).toContain('{"state":"done","answer":"paid rent"}');

    expect((await verifySession(store, id)).findings).toEqual([]);
    expect(readFileSync(log, "utf8")).toBe("rent\n");
  });
});

async function openDatabase(): Promise<{ database: string; store: Store }> {
  const empty = await createDatabase();
  onTestFinished(() => empty[Symbol.asyncDispose]());
  const store = await openStoreAt(empty.location);
  onTestFinished(() => store.close());
  return { database: empty.location, store };
}

async function openQuestion(store: Store, reference: string): Promise<string> {
  for (;;) {
    const [question] = await store.read(listOpenQuestions, { reference });
    if (question !== undefined) {
      return question.id;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Everything happened a month ago. */
