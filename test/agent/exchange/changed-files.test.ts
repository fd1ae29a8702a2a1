import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import type { AgentOptions } from "../../../src/agent/exchange-context.ts";
import type { PermissionMode } from "../../../src/core/permissions.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { atRest, importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { beginThread } from "../../../src/exchange/start-thread.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { type ModelAnswer, startModelServer } from "../../helpers/model-server.ts";
import { testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

type Call = NonNullable<ModelAnswer["toolCalls"]>[number];

const calling = (name: string, args: object): Call => ({ name, arguments: JSON.stringify(args) });
const reading = (path: string, rest: object = {}) => calling("read_file", { path, ...rest });
const writing = (path: string, content: string) => calling("write_file", { path, content });
const editing = (path: string, old_text: string, new_text: string) =>
  calling("edit_file", { path, old_text, new_text });
const patching = (...lines: readonly string[]) =>
  calling("apply_patch", { patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });

const CHANGES: readonly (readonly [string, Call])[] = [
  ["write_file", writing("a.txt", "agent's")],
  ["edit_file", editing("a.txt", "one", "ONE")],
  ["edit_file whose text is gone", editing("a.txt", "zero", "ONE")],
  [
    "multi_edit",
    calling("multi_edit", { edits: [{ path: "a.txt", old_text: "one", new_text: "1" }] }),
  ],
  ["apply_patch that updates", patching("*** Update File: a.txt", "-one", "+1")],
  ["apply_patch that deletes", patching("*** Delete File: a.txt")],
  ["apply_patch that moves", patching("*** Update File: a.txt", "*** Move to: b.txt")],
];

/** A session whose model makes the calls of `steps`, one answer each, and repeats the last result at the end. */
async function openSteps(
  steps: (readonly Call[])[],
  permission: PermissionMode = "all",
  options: Partial<AgentOptions> = {},
) {
  const server = await startModelServer({
    answer: (messages) => {
      if (messages.at(-1)?.content.includes("<conversation>") === true) {
        return { content: "SUMMARY" };
      }
      const toolCalls = steps.shift();
      return toolCalls === undefined || toolCalls.length === 0
        ? { content: `end: ${messages.at(-1)?.content}` }
        : { toolCalls: [...toolCalls] };
    },
  });
  const bench = await openBench(server, {}, options);
  const { store, repo } = bench;
  const { id } = await store.write(createSession, { repo_path: repo, permission });
  const path = join(repo, "a.txt");
  writeFileSync(path, "zero\none\n");
  return {
    ...bench,
    server,
    id,
    person: (text: string) => writeFileSync(path, text),
    file: () => (existsSync(path) ? readFileSync(path, "utf8") : null),
    /** By an exchanger that knows nothing of those before. */
    run: async (text: string | null, session_id = id) => {
      const result = await createExchanger(bench.parts).exchange(
        { session_id, text },
        { listener: () => undefined, signal: new AbortController().signal },
      );
      return { answer: "", ...result };
    },
  };
}

const CHANGED = "end: Error: file_changed: a.txt changed since you read it: read it again";
const UNREAD = "end: Error: file_changed: a.txt exists and you have not read it: read it first";

const MODES = (["ask", "all", "edits", "auto"] as const).slice(0, testSize("changed-modes"));

describe.each(MODES)("in mode %s", (mode) => {
  it.each(CHANGES)("[TOOL-30] %s of a file that a person changed is refused", async (_, call) => {
    const bench = await openSteps([[reading("a.txt")], [], [call]], mode);
    await bench.run("read");
    bench.person("a person's one\n");
    expect(await bench.run("change")).toMatchObject({ state: "done", answer: CHANGED });
    expect(bench.file()).toBe("a person's one\n");
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });
});

it.each(CHANGES)("[TOOL-30] %s of a file that was not read is refused", async (_, call) => {
  const search = calling("search_files", { text: "one" });
  const bench = await openSteps([[search], [call]]);
  expect((await bench.run("change")).answer).toBe(UNREAD);
  expect(bench.file()).toBe("zero\none\n");
});

it("[TOOL-30] a file that appears while the question about a new one is open is not replaced", async () => {
  const bench = await openSteps([[writing("new.txt", "agent's")]], "ask");
  expect((await bench.run("write")).state).toBe("waiting");
  writeFileSync(join(bench.repo, "new.txt"), "a person's");
  for (const { id: question } of await bench.store.read(listOpenQuestions, {
    reference: bench.id,
  })) {
    await bench.store.write(answerQuestion, {
      reference: bench.id,
      question,
      given: { choice: "allow_once" },
      note: null,
      answered_by: "http",
      continues: true,
    });
  }
  expect((await bench.run(null)).answer).toContain("file_changed: new.txt exists");
  expect(readFileSync(join(bench.repo, "new.txt"), "utf8")).toBe("a person's");
});

describe("what the model knows of a file", () => {
  it("[TOOL-31] is all of it after a partial reading, and what it wrote itself, in one answer too", async () => {
    const bench = await openSteps([
      [reading("a.txt", { limit: 1 })],
      [editing("a.txt", "one", "two"), editing("a.txt", "two", "three")],
      [editing("a.txt", "three", "four")],
      [patching("*** Update File: a.txt", "*** Move to: b.txt", "-four", "+five")],
      [editing("b.txt", "five", "six")],
      [writing("a.txt", "new")],
      [writing("a.txt", "newer")],
    ]);
    await bench.run("change");
    expect(bench.file()).toBe("newer");
    expect(readFileSync(join(bench.repo, "b.txt"), "utf8")).toBe("zero\nsix\n");
  });

  it("[TOOL-31] is not what it has not been sent: a reading in the same answer does not count", async () => {
    const bench = await openSteps([
      [reading("a.txt")],
      [],
      [reading("a.txt"), writing("a.txt", "agent's")],
    ]);
    await bench.run("read");
    bench.person("a person's");
    expect((await bench.run("change")).answer).toBe(CHANGED);
    expect(bench.file()).toBe("a person's");
  });

  it("[TOOL-31] is the last state, not one before it", async () => {
    const bench = await openSteps([
      [reading("a.txt")],
      [writing("a.txt", "agent's")],
      [],
      [writing("a.txt", "x")],
    ]);
    await bench.run("change");
    bench.person("zero\none\n");
    expect((await bench.run("change")).answer).toBe(CHANGED);
  });

  it("[TOOL-31] is not what its own command wrote", async () => {
    const run = calling("run_command", { line: "echo two >> a.txt" });
    const commands = { env: { PATH: process.env["PATH"] }, outputFolder: temporaryFolder() };
    const bench = await openSteps(
      [[reading("a.txt")], [run], [editing("a.txt", "one", "1")]],
      "all",
      {
        commands,
      },
    );
    expect((await bench.run("change")).answer).toBe(CHANGED);
    expect(bench.file()).toBe("zero\none\ntwo\n");
  });

  it("[TOOL-32] is kept over summaries that hide what read and wrote it", async () => {
    const others = Array.from({ length: 3 }, () => []);
    const bench = await openSteps([
      [reading("a.txt")],
      [writing("gone.txt", "x"), writing("b.txt", "b")],
      [patching("*** Delete File: gone.txt")],
      ...others,
      [editing("a.txt", "one", "two"), writing("gone.txt", "y")],
      ...others,
      [editing("a.txt", "two", "three"), editing("b.txt", "b", "c")],
    ]);
    const summarised = async () => {
      await bench.run("something else");
      await bench.run("something else");
      const live = { listener: () => undefined, signal: new AbortController().signal };
      const asked = { session_id: bench.id };
      const { outcome } = await createExchanger(bench.parts).compact(asked, live);
      expect(outcome).toBe("compacted");
    };
    await bench.run("read");
    await summarised();
    writeFileSync(join(bench.repo, "gone.txt"), "a person's");
    expect((await bench.run("change")).answer).toContain("gone.txt exists and you have not read");
    expect(JSON.stringify(bench.server.requests().at(-1))).toContain("<summary>");
    expect(bench.file()).toBe("zero\ntwo\n");
    await summarised();
    bench.person("a person's two\n");
    await bench.run("change");
    expect(bench.file()).toBe("a person's two\n");
    expect(readFileSync(join(bench.repo, "b.txt"), "utf8")).toBe("c");
    expect(JSON.stringify(bench.server.requests())).not.toContain("reprise_files");
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[TOOL-32] is kept over restarts, export and import, and /clear forgets it", async () => {
    const write = [writing("a.txt", "agent's")];
    const bench = await openSteps([[reading("a.txt")], [], write, write]);
    const { store, id } = bench;
    await bench.run("read");
    const tree = withNewIds(
      atRest(await store.read(readSessionTree, { id }), new Date().toISOString()),
    );
    const read = parseExport([...exportText(tree, new Date().toISOString())].join(""));
    const [copy = ""] = await importTree(store, read);
    // not refused: an import has no mode, so it asks
    expect((await bench.run("change", copy)).state).toBe("waiting");
    expect((await verifySession(store, copy)).findings).toEqual([]);
    await beginThread(store, { id, archive: true });
    expect((await bench.run("change")).answer).toBe(UNREAD);
  });

  it("[TOOL-33] adds at most 64 bytes to a stored result, and the model is not sent it", async () => {
    const bench = await openSteps([[reading("a.txt")], [writing("a.txt", "agent's")]]);
    await bench.run("change");
    const saver = createCheckpointSaver({ store: bench.store });
    const tuple = await saver.getTuple({ configurable: { thread_id: threadId(bench.id, 0) } });
    const artifacts = messagesOf(tuple).flatMap((message) =>
      "artifact" in message && message.artifact !== undefined ? [message.artifact] : [],
    );
    expect(artifacts).toEqual([
      { read: expect.stringMatching(/^[\w-]{30}$/) },
      { wrote: expect.stringMatching(/^[\w-]{30}$/) },
    ]);
    for (const artifact of artifacts) {
      expect(`"artifact":${JSON.stringify(artifact)},`.length).toBeLessThanOrEqual(64);
      for (const note of Object.values(artifact as object)) {
        expect(JSON.stringify(bench.server.requests())).not.toContain(note);
      }
    }
  });
});
