import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { Program } from "../../../src/compat/histories/history.ts";
import { readHistories } from "../../../src/compat/histories/read-histories.ts";
import { sessionTreeOf } from "../../../src/compat/histories/session-tree.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { forkSession } from "../../../src/store/checkpoints/forks/fork-session.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { continueImport } from "../../../src/store/portable/histories/continue-import.ts";
import { verifyTree } from "../../../src/store/portable/import-tree.ts";
import type { SessionTree } from "../../../src/store/portable/export-schema.ts";
import { placeHistory } from "../../helpers/foreign-histories.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it.each(["claude-code", "codex", "gemini", "pi"] as const)(
  "[FOREIGN-42] [FOREIGN-43] a history of %s that is imported while it is written ends as if it was imported once",
  async (program: Program) => {
    const folder = temporaryFolder();
    const file = placeHistory(program, { home: folder, project: folder });
    const lines = readFileSync(file, "utf8").split("\n");
    await using store = await openStoreAt(join(folder, "store.db"));
    const ends: string[] = [];
    for (let length = 1; length < lines.length; length += 1) {
      const part = join(folder, `${length}`);
      mkdirSync(part);
      const early = await treeIn(program, lines.slice(0, length), join(part, "history.jsonl"));
      const whole = await treeIn(program, lines, join(part, "history.jsonl"));
      if (early === null || whole === null) {
        continue;
      }
      const { id } = early.session;
      await store.write(continueImport, { tree: early });
      const fork = await store.write(forkSession, { session_id: id });
      const [root] = await store.write(continueImport, { tree: whole });
      ends.push(root?.outcome ?? "");
      const read = await store.read(readSessionTree, { id });
      verifyTree(read);
      verifyTree(await store.read(readSessionTree, { id: fork.id }));
      expect({ length, ...known(read) }).toEqual({ length, ...known(whole) });
    }
    // lines of the program other than messages add nothing
    expect(new Set(ends)).toEqual(new Set(["added", "present"]));
  },
);

it("[FOREIGN-22] a message that waits in an imported session is not taken for the program's", async () => {
  const folder = temporaryFolder();
  const lines = readFileSync(placeHistory("pi", { home: folder, project: folder }), "utf8").split(
    "\n",
  );
  await using store = await openStoreAt(join(folder, "store.db"));
  const file = join(folder, "history.jsonl");
  const early = await treeIn("pi", lines.slice(0, -3), file);
  const whole = await treeIn("pi", lines, file);
  if (early === null || whole === null) {
    throw new Error("the history is empty");
  }
  await store.write(continueImport, { tree: early });
  await store.write(appendUserMessage, { reference: early.session.id, content: "Wait." });
  expect(await store.write(continueImport, { tree: whole })).toMatchObject([{ outcome: "kept" }]);
  const { messages } = await store.read(readSessionTree, { id: early.session.id });
  expect(messages.at(-1)?.content).toBe("Wait.");
});

/** Messages and checkpoints, whatever order the bodies were stored in. */
function known({ session, messages, threads }: SessionTree) {
  return {
    session: [session.title, session.last_seq, session.total_output_tokens],
    messages: messages.map(({ tool_calls, ...message }) => ({
      ...message,
      tool_calls: tool_calls?.map(({ id, name, args }) => ({ id, name, args })),
    })),
    threads: threads.map(({ bodies, lists, checkpoints }) => ({
      bodies: bodies.toSorted(),
      items: lists.map(({ items }) => items.map((item) => bodies[item])),
      checkpoints: checkpoints.map((one) => ({ ...one, shape: bodies[one.shape] })),
    })),
  };
}

/** Under an id that no other tree has; null for what cannot be read. */
async function treeIn(
  program: Program,
  lines: readonly string[],
  file: string,
): Promise<SessionTree | null> {
  writeFileSync(file, lines.join("\n"));
  try {
    for await (const history of readHistories(program, file)) {
      return await sessionTreeOf(
        { ...history, id: file, children: [] },
        "2026-11-27T12:00:00.000Z",
      );
    }
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
  }
  return null;
}
