import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { atRest, importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import type { HookTexts } from "../../../src/rules/hooks/hook.ts";
import { statementsOf } from "../../helpers/count-statements.ts";
import { SENDS_NOTHING_BY_CLOCK } from "../../helpers/exchanger.ts";
import { calling, hook, hookedExchange } from "../../helpers/hooked-exchange.ts";

const writing = (path: string, content: string) => calling("write_file", { path, content });
const running = (line: string) => calling("run_command", { line });

/** Fails if the input has what the text names. */
const denyIf = (text: string, reason: string) =>
  `grep -q '${text}' && { echo '${reason}' >&2; exit 2; }; exit 0`;

describe("a hook before a call", () => {
  it("[HOOK-13] denies it as a rule does", async () => {
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(denyIf("curl", "no network here"), "Bash")] },
      answers: [[running("curl example.org >got")], [running("echo ok >got")]],
    });
    expect(await bench.send("go")).toMatchObject({ state: "done", answer: "end" });
    expect(readFileSync(join(bench.repo, "got"), "utf8")).toBe("ok\n");
    expect(bench.results()[0]).toMatch(
      /^Error: this call is denied by the hook `grep .*` \(PreToolUse\): no network here$/,
    );
    const ended = bench.events.filter(({ type }) => type === "tool_result");
    expect(ended).toMatchObject([{ status: "denied" }, { status: "ok" }]);
    expect(bench.denied()).toBe(1);
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[HOOK-14] never allows what rules deny or ask about", async () => {
    const allow = `echo '{"hookSpecificOutput":{"permissionDecision":"allow"},"decision":"approve"}'`;
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(allow)] },
      permission: "ask",
      answers: [[writing(".git/config", "x")], [writing("a.txt", "a")]],
    });
    expect(await bench.send("go")).toMatchObject({ state: "waiting" });
    expect(bench.results()[0]).toContain("Error: ");
    expect(existsSync(join(bench.repo, "a.txt"))).toBe(false);
  });

  it("[HOOK-15] runs again after the question of a call, and its note is in the result", async () => {
    const note = `echo '{"hookSpecificOutput":{"additionalContext":"mind the tests"}}'; echo ran >>ran`;
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(note, "Write")] },
      permission: "ask",
      answers: [[writing("a.txt", "a")]],
    });
    expect(await bench.send("go")).toMatchObject({ state: "waiting" });
    const [question] = await bench.store.read(listOpenQuestions, { reference: bench.id });
    await bench.store.write(answerQuestion, {
      reference: bench.id,
      question: question?.id ?? "",
      given: { choice: "allow_once" },
      note: null,
      answered_by: "http",
      continues: true,
    });
    expect(await bench.send(null)).toMatchObject({ state: "done" });
    expect(bench.results()).toEqual([
      expect.stringMatching(/^created a\.txt.*\n\nThe hook .*reports:\nmind the tests$/s),
    ]);
    expect(readFileSync(join(bench.repo, "ran"), "utf8")).toBe("ran\nran\n");
  });

  it("[HOOK-16] sees each file of a patch as Claude Code's tool for one file", async () => {
    const patch = [
      "*** Begin Patch",
      "*** Add File: b.txt",
      "+b",
      "*** Add File: .env",
      "+KEY=1",
      "*** End Patch",
    ];
    const guard = `node -e "process.exit(JSON.parse(fs.readFileSync(0)).tool_input.file_path.endsWith('/.env') ? 2 : 0)"`;
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(guard, "Edit|Write")] },
      answers: [[calling("apply_patch", { patch: patch.join("\n") })]],
    });
    await bench.send("go");
    expect(bench.results()[0]).toContain("denied by the hook");
    expect(existsSync(join(bench.repo, "b.txt"))).toBe(false);
  });
});

describe("a hook after a call", () => {
  const format = `node -e "const p = JSON.parse(fs.readFileSync(0)).tool_input.file_path; fs.writeFileSync(p, fs.readFileSync(p, 'utf8').replaceAll(';;', ';'))"`;

  it("[HOOK-17] adds what it prints to the result before that is stored", async () => {
    const bench = await hookedExchange({
      hooks: { PostToolUse: [hook("echo '2 problems' >&2; exit 2", "Write")] },
      answers: [[writing("a.ts", "a")]],
    });
    await bench.send("go");
    expect(bench.results()).toEqual([
      expect.stringMatching(/^created a\.ts .*\n\nThe hook .* reports:\n2 problems$/s),
    ]);
    const { messages } = await readAll(bench);
    expect(messages.find(({ role }) => role === "tool")?.content).toBe(bench.results()[0]);
  });

  it("[HOOK-18] that changes the file just written shows the change, and the model may change it again", async () => {
    const bench = await hookedExchange({
      hooks: { PostToolUse: [hook(format, "Write|Edit")] },
      answers: [
        [writing("a.ts", "one;;\ntwo\n")],
        [calling("edit_file", { path: "a.ts", old_text: "one;", new_text: "three;;" })],
      ],
    });
    await bench.send("go");
    const [wrote, edited] = bench.results();
    expect(wrote).toContain("Hooks changed a.ts after this call:\n");
    expect(wrote).toContain("-one;;\n+one;");
    expect(edited).toMatch(/^edited a\.ts/);
    expect(readFileSync(join(bench.repo, "a.ts"), "utf8")).toBe("three;\ntwo\n");
  });

  it("[HOOK-19] that changes it too much says that it has to be read again", async () => {
    const bench = await hookedExchange({
      hooks: { PostToolUse: [hook("seq 5000 >a.txt", "Write")] },
      answers: [[writing("a.txt", "a\n")], [writing("a.txt", "b\n")]],
    });
    await bench.send("go");
    const [first, second] = bench.results();
    expect(first).toContain("Hooks changed a.txt after this call: read it again");
    expect(second).toContain("file_changed");
  });

  it("[HOOK-20] changes files as part of the call: undoing the exchange takes them back", async () => {
    const bench = await hookedExchange({
      hooks: { PostToolUse: [hook(`${format}; echo made >other.txt`, "Write")] },
      files: { "a.ts": "before\n" },
      answers: [[calling("read_file", { path: "a.ts" })], [writing("a.ts", "one;;\n")]],
    });
    await bench.send("go");
    expect(readFileSync(join(bench.repo, "a.ts"), "utf8")).toBe("one;\n");
    expect(readFileSync(join(bench.repo, "other.txt"), "utf8")).toBe("made\n");
    await undo(bench);
    expect(readFileSync(join(bench.repo, "a.ts"), "utf8")).toBe("before\n");
    expect(existsSync(join(bench.repo, "other.txt"))).toBe(false);
  });

  it("[HOOK-21] of two calls of one answer works before the second call does", async () => {
    const bench = await hookedExchange({
      hooks: { PostToolUse: [hook(`sleep 0.2; ${format}`, "Write|Edit")] },
      answers: [
        [writing("a.ts", "a;;\nb\n")],
        [
          calling("edit_file", { path: "a.ts", old_text: "b\n", new_text: "c;;\n" }),
          calling("edit_file", { path: "a.ts", old_text: "a;", new_text: "d;;" }),
        ],
      ],
    });
    await bench.send("go");
    expect(bench.results().slice(1)).toEqual([
      expect.stringMatching(/^edited/),
      expect.stringMatching(/^edited/),
    ]);
    expect(readFileSync(join(bench.repo, "a.ts"), "utf8")).toBe("d;\nc;\n");
  });

  it("[HOOK-17] does not run after a call that failed", async () => {
    const bench = await hookedExchange({
      hooks: { PostToolUse: [hook("touch ran")] },
      answers: [[running("exit 3")], [calling("read_file", { path: "none" })]],
    });
    await bench.send("go");
    expect(existsSync(join(bench.repo, "ran"))).toBe(false);
  });
});

describe("a hook of a message", () => {
  it("[HOOK-22] denies it before anything is stored", async () => {
    const bench = await hookedExchange({
      hooks: { UserPromptSubmit: [hook(denyIf("hunter2", "there is a password in it"))] },
    });
    await expect(bench.send("my password is hunter2")).rejects.toMatchObject({
      code: "hook_denied",
      message: expect.stringContaining("there is a password in it"),
    });
    const rows = await readAll(bench);
    expect(rows.messages).toEqual([]);
    expect(await bench.send("hello")).toMatchObject({ state: "done", answer: "end" });
    expect(bench.server.requests()).toHaveLength(1);
  });

  it("[HOOK-23] adds to what the model reads, and nothing that was sent changes later", async () => {
    const bench = await hookedExchange({
      hooks: {
        UserPromptSubmit: [hook("echo it is Friday")],
        SessionStart: [hook("echo branch main")],
      },
    });
    await bench.send("one");
    await bench.send("two");
    const [first = [], second = []] = bench.server.requests();
    expect(first[0]?.content).toContain("branch main");
    expect(first[0]?.content).toContain("it is Friday");
    expect(second.slice(0, first.length)).toEqual(first);
    expect(second.at(-1)?.content).toContain("it is Friday");
    expect(second.at(-1)?.content).not.toContain("branch main");
    const { messages } = await readAll(bench);
    expect(messages[0]?.content).toBe("one");
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
    // as another process, which knows nothing but the thread
    await createExchanger(bench.parts).exchange(
      { session_id: bench.id, text: "three" },
      { listener: () => undefined, signal: new AbortController().signal },
    );
    const third = bench.server.requests().at(-1) ?? [];
    expect(third.slice(0, second.length)).toEqual(second);
    expect(third.at(-1)?.content).toContain("branch main");
  });
});

describe("a hook of an answer", () => {
  it("[HOOK-24] lets the model continue with a reason, once", async () => {
    const once = `grep -q '"stop_hook_active":false' && { echo run the tests >&2; exit 2; }; exit 0`;
    const bench = await hookedExchange({
      hooks: { Stop: [hook(once)] },
      answers: ["done", "tested"],
    });
    expect(await bench.send("go")).toMatchObject({ state: "done", answer: "tested" });
    const [first = [], second = []] = bench.server.requests();
    expect(second.slice(0, first.length)).toEqual(first);
    expect(second.slice(first.length)).toMatchObject([
      { role: "assistant", content: "done" },
      { role: "user", content: expect.stringContaining("run the tests") },
    ]);
    const { messages } = await readAll(bench);
    expect(messages.map(({ content }) => content)).toEqual(["go", "done", "tested"]);
    await bench.send("again");
    expect((bench.server.requests().at(-1) ?? []).slice(0, second.length)).toEqual(second);
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[HOOK-25] lets it continue 8 times at most", async () => {
    const bench = await hookedExchange({ hooks: { Stop: [hook("echo more >&2; exit 2")] } });
    expect(await bench.send("go")).toMatchObject({ state: "done" });
    expect(bench.server.requests()).toHaveLength(9);
    expect(bench.notices()).toEqual([expect.stringContaining("let the model continue 8 times")]);
  });
});

describe("hooks of a session", () => {
  it("[HOOK-26] run when a process takes it up and leaves it", async () => {
    const log = (event: string) =>
      hook(
        `node -e "const d = JSON.parse(fs.readFileSync(0)); fs.appendFileSync('log', '${event} ' + (d.source ?? d.reason) + require('os').EOL)"`,
      );
    const bench = await hookedExchange({
      hooks: { SessionStart: [log("start")], SessionEnd: [log("end")] },
    });
    const { signal } = new AbortController();
    const leave = (reason: "clear" | "other") =>
      bench.exchanger.leave?.(
        { session_id: bench.id, reason, onNotice: () => undefined },
        { signal },
      );
    await leave("other");
    await bench.send("one");
    await bench.send("two");
    await leave("clear");
    await leave("other");
    await bench.send("three");
    expect(readFileSync(join(bench.repo, "log"), "utf8")).toBe(
      "start startup\nend clear\nstart resume\n",
    );
  });

  it("[HOOK-27] run when a person is asked", async () => {
    const bench = await hookedExchange({
      hooks: {
        Notification: [
          hook("cat >asked.json", "permission_prompt"),
          hook("touch other", "elicitation_dialog"),
        ],
      },
      permission: "ask",
      answers: [[writing("a.txt", "a")]],
    });
    expect(await bench.send("go")).toMatchObject({ state: "waiting" });
    expect(JSON.parse(readFileSync(join(bench.repo, "asked.json"), "utf8"))).toMatchObject({
      hook_event_name: "Notification",
      message: expect.stringContaining("May the agent change a.txt"),
    });
    expect(existsSync(join(bench.repo, "other"))).toBe(false);
  });
});

describe("hooks of sub-agents", () => {
  it("[HOOK-35] are those of calls, and none of messages, answers and sessions", async () => {
    const log = (event: string) => hook(`echo ${event} >>log`);
    const bench = await hookedExchange({
      hooks: {
        SessionStart: [log("start")],
        UserPromptSubmit: [log("prompt")],
        PreToolUse: [hook("echo no >&2; exit 2", "Write")],
        Stop: [log("stop")],
      },
      answers: [
        [calling("delegate", { persona: "assistant", task: "write it" })],
        [writing("a.txt", "a")],
        "the sub-agent is done",
      ],
    });
    expect(await bench.send("go")).toMatchObject({ state: "done", answer: "end" });
    expect(existsSync(join(bench.repo, "a.txt"))).toBe(false);
    expect(readFileSync(join(bench.repo, "log"), "utf8")).toBe("start\nprompt\nstop\n");
    expect(bench.denied()).toBe(1);
  });
});

it("[HOOK-38] what an imported file says of hooks is sent to no model", async () => {
  const bench = await hookedExchange({
    hooks: {
      UserPromptSubmit: [hook("echo obey the file")],
      Stop: [hook(`grep -q '"stop_hook_active":false' && { echo obey it >&2; exit 2; }; exit 0`)],
    },
  });
  await bench.send("one");
  await bench.send("two");
  expect(JSON.stringify(bench.server.requests().at(-1))).toContain("obey it");
  bench.configure({});
  const { store } = bench;
  const now = new Date().toISOString();
  const tree = withNewIds(atRest(await store.read(readSessionTree, { id: bench.id }), now));
  const read = parseExport([...exportText(tree, now)].join(""));
  const [copy = ""] = await importTree(store, read);
  await bench.send("three", { session_id: copy });
  const last = bench.server.requests().at(-1) ?? [];
  expect(last.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "one",
    "[Continue.]",
    "two",
    "[Continue.]",
    "three",
  ]);
});

it("[HOOK-37] an exchange without hooks sends the statements that it sends with some that do not run", async () => {
  const cost = async (hooks: HookTexts) => {
    const answers = [[writing("a.txt", "a")]];
    const bench = await hookedExchange({ hooks, answers, parts: SENDS_NOTHING_BY_CLOCK });
    return (await statementsOf(() => bench.send("go"))).statements.length;
  };
  expect(await cost({})).toBe(await cost({ PostToolUse: [hook("false", "Bash")] }));
});

type Hooked = Awaited<ReturnType<typeof hookedExchange>>;

const readAll = ({ store, id }: Hooked) => store.read(readDetail, { reference: id, all: true });

async function undo({ store, kept, id }: Hooked): Promise<void> {
  await undoExchange({ store, kept, command: "test" }, { reference: id, direction: "undo" });
}
