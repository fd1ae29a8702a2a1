import { expect, it } from "vitest";

import { sessionsOf } from "../../../src/store/portable/export-schema.ts";
import { readFreeThread, storeFreeThread } from "../../../src/store/portable/free-thread.ts";
import { atRest, importTree } from "../../../src/store/portable/import-tree.ts";
import { parseExport, parseThreadExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { listWithAnswered } from "../../../src/store/records/questions/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import {
  earlierExport,
  EXPORTED_SESSIONS,
  EXPORTING_BUILDS,
} from "../../helpers/earlier-builds.ts";
import { describeEngine, openFresh } from "../../helpers/engines.ts";

const EXPORTS = EXPORTING_BUILDS.flatMap((build) =>
  EXPORTED_SESSIONS.map((name) => ({ build, name })),
);

describeEngine("what earlier builds exported", (engine) => {
  it.each(EXPORTS)("[MOVE-35] $build exported $name", async ({ build, name }) => {
    const store = await openFresh(engine);
    const exported = atRest(parseExport(earlierExport(build, name)), new Date().toISOString());
    for (const id of await importTree(store, exported)) {
      expect((await verifySession(store, id)).findings).toEqual([]);
    }
    const { id } = exported.session;
    expect(await store.read(readSessionTree, { id })).toEqual(exported);
  });

  it.each(EXPORTING_BUILDS)(
    "[MOVE-35] answers in words of %s keep their words, and get ids",
    async (build) => {
      const store = await openFresh(engine);
      const tree = atRest(parseExport(earlierExport(build, "work")), new Date().toISOString());
      await importTree(store, tree);
      const questions = await store.read(listWithAnswered, { reference: tree.session.id });
      expect(questions).toMatchObject([
        { text: "How many?", choices: null, choice: null, answer: null },
        {
          kind: "permission",
          choices: [
            { id: "allow_once", label: "allow once" },
            { id: "allow_exchange" },
            { id: "allow_session" },
            { id: "deny", meaning: null },
          ],
          permission: null,
          choice: "allow_exchange",
          answer: "allow for this exchange",
        },
        {
          choices: [
            { id: "1", label: "red 🔴" },
            { id: "2", label: "blue 🔵" },
          ],
          choice: "2",
          answer: "blue 🔵",
        },
      ]);
    },
  );

  it.each(EXPORTING_BUILDS)("[MOVE-35] %s exported a thread without a session", async (build) => {
    const store = await openFresh(engine);
    const exported = parseThreadExport(earlierExport(build, "thread"));
    await store.write(storeFreeThread, exported);
    const { thread_id } = exported;
    expect(await store.read(readFreeThread, { thread_id })).toEqual(exported);
  });
});

it.each(EXPORTING_BUILDS)("the exports of %s hold every kind of record", (build) => {
  const trees = EXPORTED_SESSIONS.map((name) => parseExport(earlierExport(build, name)));
  const all = trees.flatMap((tree) => [...sessionsOf(tree)]);
  const exchanges = all.flatMap(({ session }) => session.exchanges ?? []);
  const questions = all.flatMap(({ session }) => session.questions ?? []);
  const messages = all.flatMap((one) => one.messages);
  const kinds = (values: readonly unknown[]) => [...new Set(values.map(String))].sort();
  expect(kinds(exchanges.map(({ state }) => state))).toEqual([
    "done",
    "failed",
    "queued",
    "running",
    "stopped",
    "waiting",
  ]);
  expect(kinds(questions.map(({ kind, state }) => `${kind} ${state}`))).toEqual([
    "permission answered",
    "question answered",
    "question open",
  ]);
  expect(kinds(messages.map(({ role }) => role))).toEqual(["assistant", "tool", "user"]);
  for (const flag of ["is_summary", "archived", "checkpointed"] as const) {
    expect(kinds(messages.map((message) => message[flag]))).toEqual(["false", "true"]);
  }
  expect(kinds(all.flatMap(({ session }) => Object.keys(session)))).toEqual(
    expect.arrayContaining([
      "agent",
      "archived_at",
      "changes",
      "create_key",
      "exchange_limit",
      "failure",
      "input_tokens_ahead",
      "metadata",
      "name",
    ]),
  );
  expect(all.some(({ session }) => session.parent_session_id !== null)).toBe(true);
  expect(messages.some(({ authenticated }) => authenticated === false)).toBe(true);
});
