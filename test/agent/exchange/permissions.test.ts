import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import {
  offeredChoices,
  permissionChoices,
  permissionLabel,
} from "../../../src/core/text/words.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import type { AgentOptions } from "../../../src/agent/exchange-context.ts";
import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import type { PermissionChoice } from "../../../src/core/questions.ts";
import type { ExchangeRequest } from "../../../src/exchange/exchanger.ts";
import type { SessionTree } from "../../../src/store/portable/export-schema.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { atRest, importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession, type NewSession } from "../../../src/store/records/sessions/create.ts";
import {
  keepRule,
  readPermissions,
  removeRule,
  setPermissionMode,
} from "../../../src/store/records/sessions/permissions.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { askedForEdit } from "../../helpers/asked-for-edit.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import { openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { seededRandom } from "../../helpers/random.ts";
import { repeatsNpmTest, testSize } from "../../helpers/size.ts";

const once: PermissionChoice = "allow_once";
const exchange: PermissionChoice = "allow_exchange";
const always: PermissionChoice = "allow_session";
const each: PermissionChoice = "allow_each";
const no: PermissionChoice = "deny";

const writing = (path: string, content: string) => ({
  name: "write_file",
  arguments: JSON.stringify({ path, content }),
});
const editing = (path: string, old_text: string, new_text: string) => ({
  name: "edit_file",
  arguments: JSON.stringify({ path, old_text, new_text }),
});

const reading = (path: string) => ({ name: "read_file", arguments: JSON.stringify({ path }) });

type Calls = NonNullable<ModelAnswer["toolCalls"]>;

/** The model makes these calls, one answer each, and then repeats the last result. */
async function openAsking(
  steps: readonly Calls[],
  { columns = {}, ...options }: Partial<AgentOptions> & { readonly columns?: NewSession } = {},
) {
  const longest = Math.max(0, ...steps.flat().map((call) => call.arguments.length));
  const server = await startModelServer({
    // in pieces of 20 characters a large file takes seconds
    chunkSize: Math.max(20, Math.ceil(longest / 200)),
    answer: (messages: readonly SentMessage[]) => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const done = messages.slice(at).filter(({ role }) => role === "assistant").length;
      const toolCalls = steps[done];
      return toolCalls === undefined
        ? { content: `end: ${messages.at(-1)?.content}` }
        : { toolCalls: [...toolCalls] };
    },
  });
  const bench = await openBench(server, {}, options);
  const { store, repo } = bench;
  const { id } = await store.write(createSession, { repo_path: repo, ...columns });
  const open = () => store.read(listOpenQuestions, { reference: id });
  return {
    ...bench,
    server,
    id,
    file: (path: string) =>
      existsSync(join(repo, path)) ? readFileSync(join(repo, path), "utf8") : null,
    open,
    run: (request: Partial<ExchangeRequest> = {}) => bench.run({ session_id: id, ...request }),
    /** Answers the only open question. */
    answer: async (choice: PermissionChoice, note: string | null = null) => {
      const [question, ...others] = await open();
      expect(others).toEqual([]);
      await store.write(answerQuestion, {
        reference: id,
        question: question?.id ?? "",
        given: { choice },
        note,
        answered_by: "http",
        continues: true,
      });
      return question;
    },
  };
}

describe.skipIf(repeatsNpmTest())("a change of several files in one call", () => {
  const patching = (...lines: readonly string[]) => ({
    name: "apply_patch",
    arguments: JSON.stringify({
      patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
    }),
  });
  const PATCH = patching(
    "*** Update File: a.txt",
    "-a",
    "+A",
    "*** Delete File: b.txt",
    "*** Update File: c.txt",
    "*** Move to: d.txt",
    " c",
    "+more",
  );
  const openPatching = async (steps: readonly Calls[], options = {}) => {
    const reads = ["a.txt", "b.txt", "c.txt"].map(reading);
    const bench = await openAsking([reads, ...steps], options);
    for (const name of ["a", "b", "c"]) {
      writeFileSync(join(bench.repo, `${name}.txt`), `${name}\n`);
    }
    const files = () => ["a", "b", "c", "d"].map((name) => bench.file(`${name}.txt`));
    return { ...bench, files };
  };
  const UNCHANGED = ["a\n", "b\n", "c\n", null];
  const CHANGED = ["A\n", null, null, "c\nmore\n"];

  it("[PERMISSION-85] is one question with each file's diff, about all or about each", async () => {
    const bench = await openPatching([[PATCH]]);
    expect((await bench.run({ text: "patch" })).state).toBe("waiting");
    const all = await bench.answer(each);
    expect(all?.choices?.map(({ id }) => id)).toEqual([once, exchange, always, each, no]);
    const rules = ["a", "b", "c", "d"].map((name) => `apply_patch(${name}.txt)`);
    expect(all?.choices?.map(({ lasting }) => lasting)).toEqual([null, rules, rules, null, null]);
    expect(all?.permission).toEqual({
      tool: "apply_patch",
      subject: "a.txt, b.txt, c.txt",
      rule: "apply_patch",
      layer: "built-in",
      may_last: true,
    });
    const asked = (name: string) =>
      `May the agent change ${name} (apply_patch)?\nThe rule apply_patch (built-in) asks.\n`;
    expect(all?.text).toMatch(/^The agent wants to change 3 files in one call\.\nMay the agent/);
    expect(all?.text).toContain(`${asked("a.txt")}--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-a\n+A`);
    expect(all?.text).toContain(`${asked("b.txt")}--- b.txt\n+++ /dev/null\n-b\n`);
    expect(all?.text).toContain(`${asked("c.txt")}Its path becomes d.txt.\n--- c.txt`);
    const answers = [once, no, once];
    for (const [index, answer] of answers.entries()) {
      expect((await bench.run()).state).toBe("waiting");
      expect(bench.files()).toEqual(UNCHANGED);
      const question = await bench.answer(answer, answer === no ? "keep it" : null);
      expect(question?.choices).toEqual(permissionChoices(null));
      expect(question?.permission).toMatchObject({
        subject: `${"abc"[index]}.txt`,
        may_last: false,
      });
      expect(question?.text).toContain(asked(`${"abc"[index]}.txt`));
    }
    expect((await bench.run()).answer).toBe(
      "end: changed a.txt\nnot changed: b.txt: the user denied this call and says: keep it\nchanged c.txt, which is now d.txt",
    );
    expect(bench.files()).toEqual(["A\n", "b\n", null, "c\nmore\n"]);
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[PERMISSION-8] [PERMISSION-85] changes no file that was denied, whatever mode is set before the last answer", async () => {
    const bench = await openPatching([[PATCH]]);
    await bench.run({ text: "patch" });
    for (const answer of [each, no]) {
      await bench.answer(answer);
      expect((await bench.run()).state).toBe("waiting");
    }
    await bench.store.write(setPermissionMode, { id: bench.id, mode: "edits" });
    await bench.answer(once);
    expect((await bench.run()).answer).toBe(
      "end: not changed: a.txt: the user denied this call\ndeleted b.txt\nchanged c.txt, which is now d.txt",
    );
    expect(bench.files()).toEqual(["a\n", null, null, "c\nmore\n"]);
  });

  it("[PERMISSION-85] happens after one yes, and not after a no", async () => {
    const bench = await openPatching([[PATCH], [PATCH]]);
    await bench.run({ text: "patch" });
    await bench.answer(no);
    expect((await bench.run()).state).toBe("waiting");
    expect(bench.files()).toEqual(UNCHANGED);
    await bench.answer(once);
    expect((await bench.run()).state).toBe("done");
    expect(bench.files()).toEqual(CHANGED);
  });

  it("[TOOL-30] [PERMISSION-85] is refused as a whole if one of the files changes before the answer is used", async () => {
    const bench = await openPatching([[PATCH]]);
    await bench.run({ text: "patch" });
    await bench.answer(once);
    writeFileSync(join(bench.repo, "b.txt"), "new\n");
    expect((await bench.run()).answer).toBe(
      "end: Error: file_changed: b.txt changed since you read it: read it again",
    );
    expect(bench.files()).toEqual(["a\n", "new\n", "c\n", null]);
    expect(await bench.open()).toEqual([]);
  });

  it("[PERMISSION-85] asks only about the files that no rule decides about, and keeps a rule for each", async () => {
    const bench = await openPatching([[PATCH]], {
      permission: { allow: ["apply_patch(a.txt)", "apply_patch(b.txt)"], asks: true },
    });
    await bench.run({ text: "patch" });
    const question = await bench.answer(always);
    expect(question?.text).toMatch(/^May the agent change c\.txt/);
    expect(question?.choices?.map(({ id }) => id)).toEqual([once, exchange, always, no]);
    await bench.run();
    expect(bench.files()).toEqual(CHANGED);
    const { rules } = await bench.store.read(readPermissions, { id: bench.id });
    expect(rules.map(({ rule }) => rule)).toEqual(["apply_patch(c.txt)", "apply_patch(d.txt)"]);
  });

  it("[PERMISSION-86] is denied as a whole if a rule denies one file, and obeys the rules of the tools that it is composed of", async () => {
    const edits = {
      name: "multi_edit",
      arguments: JSON.stringify({
        edits: [
          { path: "a.txt", old_text: "a", new_text: "A" },
          { path: "b.txt", old_text: "b", new_text: "B" },
        ],
      }),
    };
    const bench = await openPatching([[edits]], {
      permission: { allow: ["edit_file(a.txt)", "edit_file(b.txt)"], asks: false },
    });
    expect((await bench.run({ text: "edit" })).answer).toBe(
      "end: edited a.txt (1 place)\nedited b.txt (1 place)",
    );
    const denied = await openPatching([[PATCH]], {
      permission: { allow: ["write_file", "apply_patch(a.txt)"], asks: false },
    });
    expect((await denied.run({ text: "patch" })).answer).toMatch(
      /^end: Error: .\.txt: this call is denied by the rule apply_patch .*asks no questions/,
    );
    expect(denied.files()).toEqual(UNCHANGED);
  });

  it.each([
    [["write_file", "edit_file"], true],
    [["write_file(*.txt)", "edit_file(*.txt)"], true],
    [["write_file"], false],
    [["edit_file"], false],
    [["write_file", "edit_file(a.txt)"], false],
  ])("[PERMISSION-90] may do what writing and editing may do: %j", async (allow, isDone) => {
    const bench = await openPatching([[PATCH]], { permission: { allow, asks: false } });
    await bench.run({ text: "patch" });
    expect(bench.files()).toEqual(isDone ? CHANGED : UNCHANGED);
  });

  it("[PERMISSION-90] needs writing for a new file, editing for a change, and both to remove one", async () => {
    const added = patching("*** Add File: n.txt", "+new");
    const edited = patching("*** Update File: a.txt", "-a", "+A");
    const removed = patching("*** Delete File: a.txt");
    const done = async (call: typeof added, allow: string[]): Promise<string> => {
      const bench = await openPatching([[call]], { permission: { allow, asks: false } });
      return (await bench.run({ text: "patch" })).answer ?? "";
    };
    expect(await done(added, ["write_file"])).toContain("created n.txt");
    expect(await done(added, ["edit_file"])).toContain("denied by the rule apply_patch");
    expect(await done(edited, ["edit_file"])).toContain("changed a.txt");
    expect(await done(edited, ["write_file"])).toContain("denied by the rule apply_patch");
    expect(await done(removed, ["write_file"])).toContain("denied by the rule apply_patch");
    expect(await done(removed, ["write_file", "edit_file"])).toContain("deleted a.txt");
  });

  it("[PERMISSION-75] [PERMISSION-85] reveals nothing of a file of secrets, and moves none without a question", async () => {
    const guess = (line: string) => patching("*** Update File: .env", `-${line}`);
    const results = await Promise.all(
      ["hunter22", "hunter23"].map(async (line) => {
        const bench = await openAsking([[guess(line)]], {
          permission: { allow: [], asks: false },
          columns: { permission: "all" },
        });
        writeFileSync(join(bench.repo, ".env"), "hunter22\n");
        return (await bench.run({ text: "guess" })).answer;
      }),
    );
    expect(new Set(results).size).toBe(1);
    const bench = await openAsking(
      [[reading(".env")], [patching("*** Update File: .env", "*** Move to: plain.txt")]],
      { columns: { permission: "all" } },
    );
    writeFileSync(join(bench.repo, ".env"), "hunter22\n");
    expect((await bench.run({ text: "move" })).state).toBe("waiting");
    await bench.answer(once);
    expect((await bench.run()).state).toBe("waiting");
    const question = await bench.answer(no);
    expect(question?.text).toContain("Its path becomes plain.txt.");
    expect(question?.text).not.toContain("hunter22");
    await bench.run();
    expect(bench.file("plain.txt")).toBeNull();
  });
});

describe.skipIf(repeatsNpmTest())("a file that often holds secrets", () => {
  const searching = {
    name: "search_files",
    // `**` matches no name that begins with a dot
    arguments: JSON.stringify({ text: "word", files: "{*,.env}" }),
  };

  it("[PERMISSION-73] [PERMISSION-74] is read after a consent, which a search obeys too", async () => {
    const bench = await openAsking([
      [searching],
      [reading("plain.txt"), reading(".env"), reading("missing/.env")],
      [searching],
      [reading(".env")],
    ]);
    writeFileSync(join(bench.repo, "plain.txt"), "a word\n");
    writeFileSync(join(bench.repo, ".env"), "password=word\n");
    writeFileSync(join(bench.repo, "server.pem"), "word\n");
    expect((await bench.run({ text: "read" })).state).toBe("waiting");
    const sent = () => JSON.stringify(bench.server.requests().at(-1));
    expect(sent()).toContain("not searched, because they may hold secrets: .env, server.pem");
    expect(sent()).not.toContain("password");
    const question = await bench.answer(exchange);
    expect(question?.text).toBe(
      "May the agent read .env (read_file)?\nThe rule read_file(**/.env*) (built-in) asks. .env* is protected: it holds the environment of programs, often with passwords and keys.\nWhat it holds (14 bytes) is sent to the model and stored in the session.",
    );
    expect(question?.choices).toEqual(permissionChoices(["read_file(.env)"]));
    expect((await bench.run()).answer).toContain("password=word");
    expect(sent()).toContain(".env:1: password=word");
    expect(sent()).toContain("not searched, because they may hold secrets: server.pem");
    // the consent was for the exchange
    expect((await bench.run({ text: "again" })).answer).not.toContain("password");
  });

  it("[PERMISSION-73] is not read after a no, and not without questions", async () => {
    const bench = await openAsking([[reading(".env")]]);
    writeFileSync(join(bench.repo, ".env"), "password\n");
    await bench.run({ text: "read" });
    await bench.answer(no);
    expect((await bench.run()).answer).toContain("the user denied this call");
    const silent = await openAsking([[reading(".env")]], {
      permission: { allow: ["read_file"], asks: false },
    });
    writeFileSync(join(silent.repo, ".env"), "password\n");
    expect((await silent.run({ text: "read" })).answer).toContain("this run asks no questions");
  });

  it("[PERMISSION-75] is not revealed by edits that fail", async () => {
    const results = await Promise.all(
      ["password", "passwurd", "s"].map(async (old_text) => {
        const bench = await openAsking([[editing(".env", old_text, "x")]], {
          permission: { allow: [], asks: false },
        });
        writeFileSync(join(bench.repo, ".env"), "password\n");
        return (await bench.run({ text: "guess" })).answer;
      }),
    );
    expect(new Set(results).size).toBe(1);
    const bench = await openAsking([[reading(".env")], [editing(".env", "passwurd", "x")]]);
    writeFileSync(join(bench.repo, ".env"), "password\n");
    await bench.run({ text: "guess" });
    await bench.answer(once);
    await bench.run();
    const question = await bench.answer(once);
    expect(question?.text).toContain("Nothing would be changed: old_text is not in the file");
    expect((await bench.run()).answer).toContain("old_text is not in the file");
  });
});

describe.skipIf(repeatsNpmTest())("a change of a file", () => {
  it("[PERMISSION-6] [PERMISSION-7] asks with rule, layer and diff, and happens after the answer", async () => {
    const bench = await openAsking([[reading("a.txt")], [editing("a.txt", "two", "TWO")]]);
    writeFileSync(join(bench.repo, "a.txt"), "one\r\ntwo\r\nthree\r\n");
    expect((await bench.run({ text: "edit" })).state).toBe("waiting");
    expect(bench.file("a.txt")).toBe("one\r\ntwo\r\nthree\r\n");
    const question = await bench.answer(once);
    expect(question).toMatchObject({
      kind: "permission",
      ...askedForEdit("a.txt"),
    });
    expect(question?.text).toMatch(
      /^May the agent change a\.txt \(edit_file\)\?\nThe rule edit_file \(built-in\) asks\.\n/,
    );
    expect(question?.text).toMatch(/--- a\.txt\n\+\+\+ a\.txt\n@@ .* @@\n one\r?\n-two\r?\n\+TWO/);
    expect((await bench.run()).answer).toContain("edited a.txt");
    expect(bench.file("a.txt")).toBe("one\r\nTWO\r\nthree\r\n");
    expect(await bench.open()).toEqual([]);
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[PERMISSION-6] of a new, a large and a binary file says what it shows", async () => {
    const cases = [
      { path: "new.txt", before: null, content: "hello\n", shown: "--- /dev/null\n+++ new.txt" },
      { path: "binary", before: "a\0b", content: "text\n", shown: "(3 bytes) is not shown" },
      {
        path: "large",
        before: "x".repeat(2 ** 20 + 1),
        content: "small\n",
        shown: "(1048577 bytes) is not shown",
      },
      {
        path: "long",
        before: "old\n",
        content: "line\n".repeat(9000),
        shown: "more characters of",
      },
      {
        path: "huge",
        before: "old\n",
        content: "y".repeat(2 ** 20 + 1),
        shown: "is not shown; all of it is replaced by",
      },
      {
        path: "different",
        before: Array.from({ length: 5000 }, (_, at) => `a${at}`).join("\n"),
        content: Array.from({ length: 5000 }, (_, at) => `b${at}`).join("\n"),
        shown: "is not shown; all of it is replaced by",
      },
    ];
    for (const { path, before, content, shown } of cases) {
      const bench = await openAsking([
        ...(before === null ? [] : [[reading(path)]]),
        [writing(path, content)],
      ]);
      if (before !== null) {
        writeFileSync(join(bench.repo, path), before);
      }
      expect((await bench.run({ text: "write" })).state).toBe("waiting");
      expect((await bench.answer(once))?.text).toContain(shown);
      expect((await bench.run()).state).toBe("done");
      expect(bench.file(path)).toBe(content);
    }
  });

  it("[PERMISSION-8] is denied by a no, and the model gets the word beside it", async () => {
    const bench = await openAsking([[writing("a.txt", "text")]]);
    await bench.run({ text: "write" });
    await bench.answer(no, "use b.txt");
    expect((await bench.run()).answer).toBe(
      "end: Error: the user denied this call and says: use b.txt",
    );
    expect(bench.file("a.txt")).toBeNull();
  });

  it("[PERMISSION-9] for an exchange or a session needs no second question about the same file", async () => {
    const steps = [[writing("a.txt", "1")], [writing("a.txt", "2")]];
    const bench = await openAsking(steps);
    await bench.run({ text: "write" });
    await bench.answer(exchange);
    expect((await bench.run()).state).toBe("done");
    expect(bench.file("a.txt")).toBe("2");
    expect((await bench.run({ text: "again" })).state).toBe("waiting");
    await bench.answer(always);
    expect((await bench.run()).state).toBe("done");
    expect((await bench.run({ text: "and again" })).state).toBe("done");
    const { rules } = await bench.store.read(readPermissions, { id: bench.id });
    const rule = "write_file(a.txt)";
    expect(rules).toEqual([{ rule, n: null }]);

    expect(await bench.store.write(removeRule, { id: bench.id, rule })).toBe(true);
    expect(await bench.store.write(removeRule, { id: bench.id, rule })).toBe(false);
    expect((await bench.run({ text: "once more" })).state).toBe("waiting");
  });

  it.each([
    ["write_file", writing("a.txt", "agent's")],
    ["edit_file", editing("a.txt", "line 1\n", "LINE 1\n")],
  ])(
    "[TOOL-30] [PERMISSION-10] by %s is refused if another one came before the answer, also one that the diff does not show",
    async (_, call) => {
      const bench = await openAsking([[reading("a.txt")], [call]]);
      const lines = Array.from({ length: 50 }, (_, at) => `line ${at}\n`);
      writeFileSync(join(bench.repo, "a.txt"), lines.join(""));
      await bench.run({ text: "change" });
      await bench.answer(once);
      const persons = [...lines.slice(0, -1), "changed\n"].join("");
      writeFileSync(join(bench.repo, "a.txt"), persons);
      expect(await bench.run()).toMatchObject({
        state: "done",
        answer: "end: Error: file_changed: a.txt changed since you read it: read it again",
      });
      expect(bench.file("a.txt")).toBe(persons);
      expect(await bench.open()).toEqual([]);
    },
  );

  it("[TOOL-30] [PERMISSION-10] that is refused needs another answer once the file was read again", async () => {
    const read = [reading("a.txt")];
    const write = [writing("a.txt", "agent's")];
    const bench = await openAsking([read, write, read, write]);
    const state = (text: string) => writeFileSync(join(bench.repo, "a.txt"), text);
    state("first");
    await bench.run({ text: "write" });
    await bench.answer(once);
    state("second");
    expect((await bench.run()).state).toBe("waiting");
    expect((await bench.answer(once))?.text).toContain("-second");
    // what the model knew before counts no more
    state("first");
    expect((await bench.run()).answer).toContain("file_changed");
    expect(bench.file("a.txt")).toBe("first");
  });

  it("[PERMISSION-11] is judged by the rules at the time of the answer", async () => {
    const bench = await openAsking([[writing("a.txt", "text")]]);
    const { store, id } = bench;
    await bench.run({ text: "write" });
    await bench.answer(always);
    await store.write(setPermissionMode, { id, mode: "plan" });
    expect((await bench.run()).answer).toMatch(/denied|not/);
    expect(bench.file("a.txt")).toBeNull();
    expect((await store.read(readPermissions, { id })).rules).toEqual([]);

    // a yes counts, and the call is judged by its new mode: nothing is asked again
    await store.write(setPermissionMode, { id, mode: "ask" });
    expect((await bench.run({ text: "write" })).state).toBe("waiting");
    await store.write(setPermissionMode, { id, mode: "edits" });
    await bench.answer(once);
    expect((await bench.run()).state).toBe("done");
    expect(bench.file("a.txt")).toBe("text");
  });

  it("[PERMISSION-8] takes no effect after a no, whatever mode was set and rule was kept meanwhile", async () => {
    for (const lift of [
      { mode: "edits" as const, rule: null },
      { mode: "all" as const, rule: null },
      { mode: null, rule: "write_file" },
    ]) {
      const bench = await openAsking([[writing("a.txt", "text")], [writing("a.txt", "again")]]);
      const { store, id } = bench;
      await bench.run({ text: "write" });
      if (lift.mode !== null) {
        await store.write(setPermissionMode, { id, mode: lift.mode });
      }
      if (lift.rule !== null) {
        await store.write(keepRule, { id, rule: lift.rule, n: null });
      }
      await bench.answer(no);
      expect((await bench.run()).state).toBe("done");
      // the second call was never denied
      expect(bench.file("a.txt")).toBe("again");
      const [results = []] = bench.server.requests().slice(-1);
      const [first] = results.filter(({ role }) => role === "tool");
      expect(first?.content).toContain("the user denied this call");
    }
  });

  it.each(["edits", "auto", "all"] as const)(
    "[PERMISSION-3] in mode %s is not asked about, unless other programs execute or obey the file",
    async (permission) => {
      const bench = await openAsking([[writing("a.txt", "1")], [writing("AGENTS.md", "obey")]], {
        columns: { permission },
      });
      expect((await bench.run({ text: "write" })).state).toBe("waiting");
      expect(bench.file("a.txt")).toBe("1");
      const question = await bench.answer(always);
      expect(question?.text).toContain("AGENTS.md is protected: every agent obeys it");
      expect((await bench.run()).state).toBe("done");
      expect(bench.file("AGENTS.md")).toBe("obey");
      expect((await bench.run({ text: "write" })).state).toBe("done");
    },
  );

  it("[PERMISSION-12] is denied without a question if none may be asked, and a rule of the run allows it", async () => {
    const asking = { name: "ask_user", arguments: JSON.stringify({ question: "May I?" }) };
    const steps = [[writing("a.txt", "1")], [writing("docs/b.txt", "2")], [asking]];
    const permission = { allow: ["write_file(docs/**)"], asks: false };
    const bench = await openAsking(steps, { permission });
    expect((await bench.run({ text: "write" })).state).toBe("done");
    expect([bench.file("a.txt"), bench.file("docs/b.txt")]).toEqual([null, "2"]);
    const [results = []] = bench.server.requests().slice(-1);
    const [denied, , unasked] = results.filter(({ role }) => role === "tool");
    expect(denied?.content).toContain(
      "denied by the rule write_file (built-in): this run asks no questions",
    );
    expect(unasked?.content).toContain("nobody can be asked now");
    expect(await bench.open()).toEqual([]);
    expect(bench.server.systemPrompts()[0]).toContain("Nobody can be asked");
  });

  it("[QUESTION-47] [PERMISSION-10] is not allowed by an answer to a question of the model that looks the same", async () => {
    const honest = await openAsking([[writing("a.txt", "1")]]);
    await honest.run({ text: "write" });
    const [asked] = await honest.open();
    const labels = asked?.choices?.map(({ label }) => label) ?? [];
    expect(labels).toContain(permissionLabel(once));
    const question = { question: asked?.text, choices: labels };
    const id = "the same call";
    const bench = await openAsking([
      [{ id, name: "ask_user", arguments: JSON.stringify(question) }],
      [{ id, ...writing("a.txt", "1") }],
    ]);
    expect((await bench.run({ text: "write" })).state).toBe("waiting");
    const [forged] = await bench.open();
    expect(forged).toMatchObject({ kind: "question", text: asked?.text, permission: null });
    expect(forged?.choices).toEqual(offeredChoices(labels));
    const given = { reference: bench.id, question: forged?.id ?? "" };
    const from = { note: null, answered_by: "http", continues: true } as const;
    for (const choice of [once, permissionLabel(once)]) {
      await expect(
        bench.store.write(answerQuestion, { ...given, given: { choice }, ...from }),
      ).rejects.toMatchObject({ code: "invalid_request" });
    }
    await bench.store.write(answerQuestion, { ...given, given: { choice: "1" }, ...from });
    expect((await bench.run()).state).toBe("waiting");
    expect(bench.file("a.txt")).toBeNull();
    expect(await bench.open()).toMatchObject([{ kind: "permission", choices: asked?.choices }]);
  });

  it("[PERMISSION-13] of several at once is asked about one by one", async () => {
    const calls = [writing("a.txt", "1"), writing("b.txt", "2"), writing("c.txt", "3")];
    const bench = await openAsking([calls]);
    await bench.run({ text: "write" });
    const open = await bench.open();
    expect(open).toHaveLength(3);
    for (const question of open) {
      const answer = question.text.includes("b.txt") ? no : once;
      await bench.store.write(answerQuestion, {
        reference: bench.id,
        question: question.id,
        given: { choice: answer },
        note: null,
        answered_by: "http",
        continues: true,
      });
    }
    expect((await bench.run()).state).toBe("done");
    expect(["a.txt", "b.txt", "c.txt"].map(bench.file)).toEqual(["1", null, "3"]);
  });
});

describe.skipIf(repeatsNpmTest())("[PERMISSION-14] a sub-agent", () => {
  const delegating = (persona: string) => [
    { name: "delegate", arguments: JSON.stringify({ persona, task: "task" }) },
  ];

  it("asks in the session above it, and an always counts for that session", async () => {
    const server = await startModelServer({
      answer: (messages) => {
        const isTask = messages[0]?.content === "task";
        return messages.at(-1)?.role === "tool"
          ? { content: "done" }
          : { toolCalls: isTask ? [writing("a.txt", "1")] : delegating("assistant") };
      },
    });
    const bench = await openBench(server);
    const { store, repo } = bench;
    const { id } = await store.write(createSession, { repo_path: repo });
    expect((await bench.run({ session_id: id, text: "go" })).state).toBe("waiting");
    const [question] = await store.read(listOpenQuestions, { reference: id });
    expect(question?.path).toHaveLength(2);
    await store.write(answerQuestion, {
      reference: id,
      question: question?.id ?? "",
      given: { choice: always },
      note: null,
      answered_by: "http",
      continues: true,
    });
    expect((await bench.run({ session_id: id })).state).toBe("done");
    expect(readFileSync(join(repo, "a.txt"), "utf8")).toBe("1");
    expect((await store.read(readPermissions, { id })).rules).toEqual([
      { rule: "write_file(a.txt)", n: null },
    ]);
    // another sub-agent of the same session
    expect((await bench.run({ session_id: id, text: "again" })).state).toBe("done");
    await expect(
      store.write(setPermissionMode, { id: question?.session_id ?? "", mode: "all" }),
    ).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("never does what the persona above it may not", async () => {
    const server = await startModelServer({
      answer: (messages) => {
        const isTask = messages[0]?.content === "task";
        return messages.at(-1)?.role === "tool"
          ? { content: String(messages.at(-1)?.content) }
          : { toolCalls: isTask ? [writing("a.txt", "1")] : delegating("assistant") };
      },
    });
    const bench = await openBench(server);
    const { store, repo } = bench;
    mkdirSync(join(repo, ".reprise/personas"), { recursive: true });
    writeFileSync(
      join(repo, ".reprise/personas/leader.md"),
      "---\nname: leader\ntools: [read_file, delegate]\n---\nYou lead.\n",
    );
    const columns = { repo_path: repo, persona_name: "leader", permission: "all" } as const;
    const { id } = await store.write(createSession, columns);
    expect((await bench.run({ session_id: id, text: "go" })).state).toBe("done");
    expect(existsSync(join(repo, "a.txt"))).toBe(false);
    const offered = server.offeredTools();
    expect(offered[0]).toEqual(["read_file", "delegate"]);
    expect(offered[1]).not.toContain("write_file");
    expect(offered[1]).toContain("read_file");
  });
});

describe("[PERMISSION-15] a process that is killed", () => {
  it("while the question is open or after the answer loses no consent and changes nothing twice", async () => {
    const bench = await openAsking([[reading("a.txt")], [writing("a.txt", "agent's")]]);
    const { store, repo, parts } = bench;
    const live = { listener: () => undefined, signal: new AbortController().signal };
    const counts = { written: 0, unknown: 0 };
    let isOver = false;
    const percent = testSize("dying-writes");
    const random = seededRandom("dying writes");
    for (let at = 1; !isOver; at += 1) {
      if (random() * 100 >= percent) {
        continue;
      }
      for (const when of ["before", "after"] as const) {
        const { id } = await store.write(createSession, { repo_path: repo });
        const point = `${when} write ${at}`;
        writeFileSync(join(repo, "a.txt"), "before");
        const dying = dyingStore(store, at, when);
        const request = { session_id: id, when_busy: "take_over" } as const;
        const answerAll = async () => {
          for (const { id: question } of await store.read(listOpenQuestions, { reference: id })) {
            const given = { given: { choice: once }, note: null, answered_by: "http" } as const;
            await store.write(answerQuestion, {
              reference: id,
              question,
              ...given,
              continues: true,
            });
          }
        };
        const run = (async () => {
          const first = createExchanger({ ...parts, store: dying.store });
          const end = await first.exchange({ ...request, text: "write" }, live);
          expect([end.state, readFileSync(join(repo, "a.txt"), "utf8")]).toEqual([
            "waiting",
            "before",
          ]);
          await answerAll();
          return first.exchange({ ...request, text: null }, live);
        })();
        run.catch(() => undefined);
        isOver = (await Promise.race([dying.dead.then(() => null), run])) !== null;
        if (isOver) {
          break;
        }
        const { last_seq } = await store.read(readSession, { id });
        if (last_seq === 0) {
          // its message was not stored yet
          dying.bury();
          await run.catch(() => undefined);
          continue;
        }
        const second = createExchanger(parts);
        for (let turn = 0; turn < 5; turn += 1) {
          await answerAll();
          if ((await store.read(readSession, { id })).activity === "idle") {
            break;
          }
          await second.exchange({ ...request, text: null }, live);
        }
        const { findings } = await verifySession(store, id);
        expect(findings, point).toEqual([]);
        const result = bench.server.requests().at(-1)?.at(-1)?.content;
        const isUnknown = result === OUTCOME_UNKNOWN;
        counts[isUnknown ? "unknown" : "written"] += 1;
        if (!isUnknown) {
          expect(readFileSync(join(repo, "a.txt"), "utf8"), point).toBe("agent's");
        }
        dying.bury();
        await run.catch(() => undefined);
      }
    }
    if (percent === 100) {
      expect(counts.written).toBeGreaterThan(4);
      expect(counts.unknown).toBeGreaterThan(0);
    }
  });
});

describe.skipIf(repeatsNpmTest())("[PERMISSION-16] an import", () => {
  async function imported(change: (tree: SessionTree) => SessionTree) {
    const bench = await openAsking([[writing("a.txt", "agent's")]]);
    const { store, id, repo } = bench;
    await store.write(setPermissionMode, { id, mode: "edits" });
    await store.write(setPermissionMode, { id, mode: "ask" });
    await bench.run({ text: "write" });
    await bench.answer(always);
    const tree = withNewIds(
      atRest(await store.read(readSessionTree, { id }), new Date().toISOString()),
    );
    const text = [...exportText(change(tree), new Date().toISOString())].join("");
    const read = parseExport(text);
    const [copy = ""] = await importTree(store, read);
    return { ...bench, copy, repo };
  }

  it("has neither mode nor rules, and an answer in it does not count", async () => {
    const bench = await imported((tree) => tree);
    const { store, copy } = bench;
    const run = { session_id: copy };
    expect(await store.read(readPermissions, { id: copy })).toMatchObject({
      mode: "ask",
      rules: [],
    });
    expect((await bench.run(run)).state).toBe("waiting");
    expect(bench.file("a.txt")).toBeNull();
    const [question] = await store.read(listOpenQuestions, { reference: copy });
    expect(question).toMatchObject({ number: 2, state: "open" });
  });

  it.each([
    ["text", { text: "May the agent read a.txt?" }],
    [
      "label",
      {
        choices: permissionChoices(["write_file(a.txt)"]).map((choice) =>
          choice.id === once ? { ...choice, label: "deny" } : choice,
        ),
      },
    ],
    ["rule", { choices: permissionChoices(["write_file(b.txt)"]) }],
    [
      "subject",
      {
        permission: {
          tool: "write_file",
          subject: "b.txt",
          rule: "write_file",
          layer: "built-in",
          may_last: true,
        },
      },
    ],
  ])("cannot show another %s for the question that an answer is about", async (_what, forged) => {
    const bench = await imported((tree) => ({
      ...tree,
      session: {
        ...tree.session,
        questions: tree.session.questions?.map((question) => ({
          ...question,
          state: "open" as const,
          ...forged,
          answered_at: null,
          answered_by: null,
          answer: null,
        })),
      },
    }));
    const { store, copy } = bench;
    const [shown] = await store.read(listOpenQuestions, { reference: copy });
    expect(shown).toMatchObject(forged);
    await store.write(answerQuestion, {
      reference: copy,
      question: shown?.id ?? "",
      given: { choice: once },
      note: null,
      answered_by: "http",
      continues: true,
    });
    expect((await bench.run({ session_id: copy })).state).toBe("waiting");
    expect(bench.file("a.txt")).toBeNull();
    const [question] = await store.read(listOpenQuestions, { reference: copy });
    expect(question).toMatchObject({
      number: 2,
      choices: permissionChoices(["write_file(a.txt)"]),
    });
    expect(question?.text).toContain("May the agent change a.txt");
  });
});
