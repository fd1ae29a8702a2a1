import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { permissionChoices } from "../../../src/core/text/words.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import type { AgentOptions } from "../../../src/agent/exchange-context.ts";
import { findFamily } from "../../../src/workspace/commands/processes.ts";
import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import type { PermissionChoice } from "../../../src/core/questions.ts";
import type { ExchangeRequest, Live } from "../../../src/exchange/exchanger.ts";
import type { TrustSource } from "../../../src/rules/trust/trust.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession, type NewSession } from "../../../src/store/records/sessions/create.ts";
import { readPermissions } from "../../../src/store/records/sessions/permissions.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { TRUSTED, UNTRUSTED } from "../../helpers/trust.ts";

/** The model makes these calls, one answer each, and then repeats the last result. */
async function openRunning(
  steps: readonly (object | { readonly name: string })[],
  { columns = {}, ...options }: Partial<AgentOptions> & { readonly columns?: NewSession } = {},
) {
  const server = await startModelServer({
    answer: (messages) => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const done = messages.slice(at).filter(({ role }) => role === "assistant").length;
      const { name = "run_command", ...args }: { name?: string } = steps[done] ?? {};
      return steps[done] === undefined
        ? { content: `end: ${messages.at(-1)?.content}` }
        : { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
    },
  });
  const outputFolder = temporaryFolder();
  const commands = { env: { PATH: process.env["PATH"] }, outputFolder };
  const bench = await openBench(server, {}, { commands, ...options });
  const { store, repo } = bench;
  const { id } = await store.write(createSession, { repo_path: repo, ...columns });
  const open = () => store.read(listOpenQuestions, { reference: id });
  return {
    ...bench,
    server,
    id,
    file: (path: string) => join(repo, path),
    open,
    run: (request: Partial<ExchangeRequest> = {}, live: Partial<Live> = {}) =>
      bench.run({ session_id: id, ...request }, live),
    answer: async (choice: PermissionChoice) => {
      const [question, ...others] = await open();
      expect(others).toEqual([]);
      await store.write(answerQuestion, {
        reference: id,
        question: question?.id ?? "",
        given: { choice },
        note: null,
        answered_by: "http",
        continues: true,
      });
      return question;
    },
  };
}

const ALL = { columns: { permission: "all" } } as const satisfies { columns: NewSession };
const isMarkedWith = (id: string) => ({
  group: null,
  isMarked: (text: string) => text.includes(`REPRISE_COMMAND=,${id}`),
});

describe("run_command", () => {
  it("[COMMAND-20] asks with all that runs, and what it may do without a sandbox", async () => {
    const bench = await openRunning([
      { argv: ["sh", "-c", "echo 'a b' > made", "x y"], folder: "sub", timeout_s: 7 },
    ]);
    mkdirSync(bench.file("sub"));
    expect((await bench.run({ text: "go" })).state).toBe("waiting");
    expect(existsSync(bench.file("sub/made"))).toBe(false);
    const question = await bench.answer("allow_once");
    expect(question).toMatchObject({
      kind: "permission",
      choices: permissionChoices(null),
      permission: { tool: "run_command", may_last: false },
    });
    expect(question?.text.split("\n")).toEqual([
      "May the agent run this command (run_command)?",
      "The rule run_command (built-in) asks.",
      "In sub in the session's folder, for 7 s at most.",
      expect.stringContaining("without a sandbox"),
      "with your keys and Reprise's own files, and it could answer Reprise's questions for you.",
      "A program and its arguments:",
      `sh -c "echo 'a b' > made" "x y"`,
    ]);
    const { answer } = await bench.run();
    expect(answer).toMatch(/^end: exit code 0 after \d+\.\d s\n\n\(no output\)$/);
    expect(readFileSync(bench.file("sub/made"), "utf8")).toBe("a b\n");
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[COMMAND-20] is asked about again if something else would run", async () => {
    const steps = [{ line: "echo 1 >> ran" }];
    const bench = await openRunning(steps);
    await bench.run({ text: "go" });
    await bench.answer("deny");
    expect((await bench.run()).answer).toContain("the user denied this call");
    expect(existsSync(bench.file("ran"))).toBe(false);
  });

  it("[COMMAND-3] [COMMAND-21] is allowed for longer by the proposed prefix, in every part of a line", async () => {
    const bench = await openRunning([
      { argv: ["ls", "-a"] },
      { line: "ls 'a b' | ls; ls -l" },
      { line: "ls && pwd" },
    ]);
    writeFileSync(bench.file("a b"), "");
    await bench.run({ text: "go" });
    const question = await bench.answer("allow_session");
    expect(question?.choices).toEqual(permissionChoices(["run_command(ls)"]));
    // the second one runs, the third asks for its other part
    expect((await bench.run()).state).toBe("waiting");
    const [asked] = await bench.open();
    expect(asked?.text).toMatch(/\nls && pwd$/);
    expect((await bench.store.read(readPermissions, bench)).rules).toEqual([
      { rule: "run_command(ls)", n: null },
    ]);
  });

  it("[COMMAND-22] [ANSWER-43] refuses what a person could not check, and folders that are none", async () => {
    const refusals = [
      [{}, "either argv or line"],
      [{ argv: ["ls"], line: "ls" }, "either argv or line"],
      [{ argv: [] }, "is empty"],
      [{ line: " " }, "is empty"],
      [{ argv: ["echo", "\u001b[2J"] }, "characters"],
      [{ line: "echo \u202e" }, "characters"],
      [{ line: "echo \0" }, "cannot be stored"],
      [{ argv: ["echo", "x".repeat(10_001)] }, "too long"],
      [{ line: `true${"\n".repeat(200)}` }, "too long"],
      [{ argv: ["ls"], folder: "none" }, "does not exist"],
      [{ argv: ["ls"], folder: "file" }, "does not exist"],
      [{ argv: ["ls"], folder: ".." }, "must not contain"],
      [{ argv: ["ls"], folder: "/" }, "outside"],
      [{ argv: ["ls"], folder: ".git" }, "off limits"],
    ] as const;
    const bench = await openRunning(
      refusals.map(([args]) => args),
      ALL,
    );
    writeFileSync(bench.file("file"), "");
    mkdirSync(bench.file(".git"));
    await bench.run({ text: "go" });
    const results = bench.events.flatMap((event) =>
      event.type === "tool_result" ? [event.content] : [],
    );
    expect(results).toEqual(
      refusals.map(([, sentence]) => expect.stringMatching(new RegExp(`^Error: .*${sentence}`))),
    );
  });

  it("[COMMAND-23] is not declared in a directing folder, to other personas and without a place for commands", async () => {
    const bench = await openRunning([]);
    const offered = async (
      columns: NewSession,
      { trust = TRUSTED, ...options }: Partial<AgentOptions> & { trust?: TrustSource } = {},
    ) => {
      const personas = { ...bench.parts.personas, trust };
      const exchanger = createExchanger({ ...bench.parts, ...options, personas });
      const session = { repo_path: bench.repo, ...columns };
      const { id } = await bench.store.write(createSession, session);
      const live = { listener: () => undefined, signal: new AbortController().signal };
      await exchanger.exchange({ session_id: id, text: "go" }, live);
      return bench.server.offeredTools().at(-1)?.includes("run_command");
    };
    const directing = join(temporaryFolder(), ".claude");
    mkdirSync(directing);
    const instructed = temporaryFolder();
    writeFileSync(join(instructed, "AGENTS.md"), "Obey.");
    expect(await offered({})).toBe(true);
    expect(await offered({ repo_path: instructed })).toBe(true);
    expect(await offered({}, { trust: UNTRUSTED })).toBe(true);
    expect(await offered({ repo_path: instructed }, { trust: UNTRUSTED })).toBe(true);
    expect(await offered({ plan_mode: true })).toBe(true);
    expect(await offered({ repo_path: directing })).toBe(false);
    expect(await offered({ persona_name: "reviewer" })).toBe(false);
    expect(await offered({}, { commands: undefined })).toBe(false);
  });

  it.each([
    ["in plan mode", { plan_mode: true }, TRUSTED, "planning mode"],
    ["where the folder's files are not trusted", {}, UNTRUSTED, "has not allowed commands"],
  ])("[COMMAND-23] is refused %s, and counts as denied", async (_, columns, trust, why) => {
    let denied = 0;
    const permission = { allow: ["run_command"], asks: false, onDenied: () => (denied += 1) };
    const bench = await openRunning([{ argv: ["touch", "made"] }], { permission });
    writeFileSync(join(bench.repo, "AGENTS.md"), "Obey.");
    const session = { repo_path: bench.repo, ...columns };
    const { id } = await bench.store.write(createSession, session);
    const personas = { ...bench.parts.personas, trust };
    const live = { listener: () => undefined, signal: new AbortController().signal };
    await createExchanger({ ...bench.parts, personas }).exchange(
      { session_id: id, text: "go" },
      live,
    );
    expect(bench.server.requests().at(-1)?.at(-1)?.content).toContain(why);
    expect([denied, existsSync(join(bench.repo, "made"))]).toEqual([1, false]);
  });

  it("[COMMAND-12] [COMMAND-24] returns head and tail of a long output, and read_file pages all of it", async () => {
    const line = "i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done; exit 4";
    let name = "";
    const shown: string[] = [];
    const server = await startModelServer({
      answer: (messages) => {
        const { role, content = "" } = messages.at(-1) ?? { role: "" };
        name ||= /command-output:[0-9a-f-]+/.exec(content)?.[0] ?? "";
        if (role === "tool") {
          shown.push(content);
        }
        const calls = [
          { name: "run_command", arguments: JSON.stringify({ line }) },
          { name: "read_file", arguments: JSON.stringify({ path: name, offset: 5000, limit: 2 }) },
        ];
        const next = calls[shown.length];
        return next === undefined ? { content: "end" } : { toolCalls: [next] };
      },
    });
    const commands = { env: process.env, outputFolder: temporaryFolder() };
    const bench = await openBench(server, {}, { commands });
    const live: string[] = [];
    await bench.run({ text: "go" }, { onOutput: ({ text }) => live.push(text) });
    expect(shown[0]).toMatch(
      /^exit code 4 after .* s\n\nline 0\nline 1\n[^]*… \d+ bytes are left out/,
    );
    expect(shown[0]).toMatch(/line 8999\n$/);
    expect(shown[1]).toBe(
      "5000\tline 4999\n5001\tline 5000\n(more lines follow; read on with offset 5002)",
    );
    expect(live.join("")).toMatch(/^line 0\n[^]*line 8999\n$/);
  });

  it("[PERMISSION-70] shows no secret of Reprise while it runs", async () => {
    const secrets = () =>
      Promise.resolve([{ name: "REPRISE_TOKEN", value: "canary-of-a-service" }]);
    const bench = await openRunning([{ line: "echo first canary-of-a-service" }], {
      ...ALL,
      secrets,
    });
    const live: string[] = [];
    const { answer } = await bench.run({ text: "go" }, { onOutput: ({ text }) => live.push(text) });
    expect(live.join("")).toBe("first [REPRISE_TOKEN]\n");
    expect(answer).toContain("first [REPRISE_TOKEN]");
  });

  it("[COMMAND-25] is ended by a stop before the exchange ends, and is not run again", async () => {
    const line = "echo ran >> ran; setsid sleep 1000 & sleep 1000";
    const bench = await openRunning([{ line }], ALL);
    const stop = new AbortController();
    const running = bench.run({ text: "go" }, { signal: stop.signal });
    await expect.poll(() => existsSync(bench.file("ran"))).toBe(true);
    stop.abort();
    expect((await running).state).toBe("stopped");
    expect(await findFamily(isMarkedWith(bench.id))).toEqual([]);
    expect((await bench.run()).answer).toBe(`end: ${OUTCOME_UNKNOWN}`);
    expect(readFileSync(bench.file("ran"), "utf8")).toBe("ran\n");
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[COMMAND-25] is ended when another process takes the lease", async () => {
    const bench = await openRunning(
      [{ line: "echo ran >> ran; setsid sleep 1000 & sleep 1000" }],
      ALL,
    );
    const lost = createExchanger({ ...bench.parts, leaseMs: 300 });
    const live = { listener: () => undefined, signal: new AbortController().signal };
    const running = lost.exchange({ session_id: bench.id, text: "go" }, live);
    running.catch(() => undefined);
    await expect.poll(() => existsSync(bench.file("ran"))).toBe(true);
    const next = await bench.run({ when_busy: "take_over" });
    expect(next.answer).toBe(`end: ${OUTCOME_UNKNOWN}`);
    await expect(running).rejects.toMatchObject({ code: "lease_lost" });
    expect(await findFamily(isMarkedWith(bench.id))).toEqual([]);
    expect(readFileSync(bench.file("ran"), "utf8")).toBe("ran\n");
  });

  it("[COMMAND-26] runs one after the other, and after the changes of the same answer", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        messages.at(-1)?.role === "user"
          ? {
              toolCalls: [
                { name: "write_file", arguments: JSON.stringify({ path: "a", content: "1\n" }) },
                {
                  name: "run_command",
                  arguments: JSON.stringify({ line: "sleep 0.1; echo 2 >> a" }),
                },
                { name: "run_command", arguments: JSON.stringify({ line: "echo 3 >> a" }) },
              ],
            }
          : { content: "end" },
    });
    const commands = { env: process.env, outputFolder: null };
    const bench = await openBench(server, {}, { commands });
    await bench.run({ text: "go" });
    expect(readFileSync(join(bench.repo, "a"), "utf8")).toBe("1\n2\n3\n");
  });
});
