import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { holdLease } from "../../../src/exchange/lease-holder.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { readFailures } from "../../../src/store/records/sessions/failures.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { writeSessionTree } from "../../../src/store/portable/write-tree.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { type ModelAnswer, startModelServer } from "../../helpers/model-server.ts";

const KEY = "sk-secret-0123456789";
/** Quotes the key, as providers do. */
const REFUSAL: ModelAnswer = {
  error: { message: `Incorrect key ${KEY}`, type: "authentication_error" },
  status: 401,
};

/** Answers with what it is given, one for each request, and then `the answer`. */
async function benchOf(answers: readonly ModelAnswer[]): Promise<Bench> {
  const server = await startModelServer({
    answer: (_, index) => answers[index] ?? { content: "the answer" },
  });
  return openBench(server, { OPENAI_API_KEY: KEY });
}

async function failureIn({ store, session }: Pick<Bench, "store" | "session">) {
  return (await store.read(readFailures, { ids: [session.id] })).get(session.id) ?? null;
}

async function activityOf({ store, session }: Bench): Promise<string> {
  return (await store.read(readSession, { id: session.id })).activity;
}

it("[EXCHANGE-30] [EXCHANGE-31] stores why an exchange failed, without a secret, until the next one begins", async () => {
  const bench = await benchOf([REFUSAL]);
  await expect(bench.run({ text: "question" })).rejects.toMatchObject({
    code: "model_unauthorized",
  });
  const failure = await failureIn(bench);
  expect(failure).toMatchObject({ code: "model_unauthorized" });
  expect(failure?.sentence).toMatch(/^The OpenAI service refused the key \(/);
  expect(JSON.stringify(failure)).not.toContain("secret");
  expect(await activityOf(bench)).toBe("interrupted");

  const begun: Promise<unknown>[] = [];
  const listener = ({ type }: { type: string }) => {
    if (type === "text") {
      begun.push(failureIn(bench));
    }
  };
  expect((await bench.run({ text: null }, { listener })).answer).toBe("the answer");
  expect(await Promise.all(begun)).toEqual([null]);
  expect(await failureIn(bench)).toBeNull();
  expect(await activityOf(bench)).toBe("idle");
});

it("[EXCHANGE-32] a stop leaves no failure, and neither does an exchange that was refused", async () => {
  const bench = await benchOf([]);
  const stop = new AbortController();
  const listener = ({ type }: { type: string }) => type === "message" && stop.abort();
  const { state } = await bench.run({ text: "question" }, { listener, signal: stop.signal });
  expect(state).toBe("stopped");
  expect(await activityOf(bench)).toBe("interrupted");
  expect(await failureIn(bench)).toBeNull();
  await bench.run({ text: null });
  await expect(bench.run({ text: null })).rejects.toMatchObject({ code: "nothing_to_continue" });
  expect(await failureIn(bench)).toBeNull();

  // one that was cut stays so, if the next one cannot begin
  await bench.store.write(
    ({ db }) => db.updateTable("sessions").set({ exchange_open: 1 }).execute(),
    null,
  );
  await bench.store.write(
    ({ db }) => db.updateTable("checkpoints").set({ channels: "{" }).execute(),
    null,
  );
  await expect(bench.run({ text: "more" })).rejects.toMatchObject({ code: "database_corrupt" });
  expect(await failureIn(bench)).toBeNull();
});

it("[EXCHANGE-33] a process that only takes the lease keeps the failure", async () => {
  const bench = await benchOf([{ content: "one" }, { content: "two" }, REFUSAL, REFUSAL]);
  await bench.run({ text: "first" });
  await bench.run({ text: "second" });
  await expect(bench.run({ text: "third" })).rejects.toThrow("refused the key");
  const failure = await failureIn(bench);
  expect(failure).not.toBeNull();
  const live = { signal: new AbortController().signal };
  const compact = createExchanger(bench.parts).compact({ session_id: bench.session.id }, live);
  await expect(compact).rejects.toMatchObject({ code: "model_unauthorized" });
  const held = await holdLease({
    store: bench.store,
    session_id: bench.session.id,
    owner: thisProcess("test"),
    life_ms: 30_000,
    when_busy: "refuse",
    signal: live.signal,
  });
  await held.release({ finished: false, end: null });
  expect(await failureIn(bench)).toEqual(failure);
});

it("[EXCHANGE-34] a failure moves with its session", async () => {
  const bench = await benchOf([REFUSAL]);
  const { store, session } = bench;
  await expect(bench.run({ text: "question" })).rejects.toThrow("refused the key");
  const tree = await store.read(readSessionTree, { id: session.id });
  const failure = await failureIn(bench);
  expect(tree.session.failure).toEqual(failure);
  const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
  await store.write(deleteSessionTree, { id: session.id });
  await store.write(writeSessionTree, { tree: parseExport(text) });
  expect(await failureIn(bench)).toEqual(failure);
  expect(await store.read(readSessionTree, { id: session.id })).toEqual(tree);

  const closed = { ...tree, session: { ...tree.session, exchange_open: false } };
  const wrong = [...exportText(closed, "2026-01-01T00:00:00.000Z")].join("");
  expect(() => parseExport(wrong)).toThrow(expect.objectContaining({ code: "export_invalid" }));
});
