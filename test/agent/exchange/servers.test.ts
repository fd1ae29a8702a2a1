import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { ServerTools } from "../../../src/agent/tools/server-tools.ts";
import { ToolSet } from "../../../src/core/tools.ts";
import { Servers } from "../../../src/mcp/servers.ts";
import { startThread } from "../../../src/store/records/sessions/change.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { hostile, notedIn, openMcp, SOUND } from "../../helpers/mcp.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const ECHO = [{ name: "sound__echo", args: { text: "hello" } }];
const ACT = [{ name: "bad__act" }];
const noted = () => join(temporaryFolder(), "noted");
const callsIn = (file: string) => notedIn(file).filter((line) => line.startsWith("call"));
const startsIn = (file: string) => notedIn(file).filter((line) => line.startsWith("start"));

describe("tools of MCP servers", () => {
  it("[MCP-10] are offered as server__tool and called, in the thread's first exchange and later ones", async () => {
    const bench = await openMcp({ sound: SOUND }, { steps: ECHO });
    expect((await bench.run({ text: "go" })).answer).toBe("end: echo: hello");
    expect((await bench.run({ text: "again" })).answer).toBe("end: echo: hello");
    const offered = bench.server.offeredTools();
    expect(offered[0]).toContain("sound__echo");
    expect(new Set(offered.map((names) => names.join())).size).toBe(1);
    expect(bench.notices()).toEqual([]);
    expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  });

  it("[MCP-12] ask by default, with their arguments, and can be allowed by a rule", async () => {
    const columns = { permission: "ask" } as const;
    const bench = await openMcp({ sound: SOUND }, { steps: [...ECHO, ...ECHO], columns });
    expect((await bench.run({ text: "go" })).state).toBe("waiting");
    const question = await bench.answer("allow_session");
    expect(question?.text).toContain("May the agent run sound__echo?");
    expect(question?.text).toContain(`"text": "hello"`);
    expect((await bench.run()).answer).toBe("end: echo: hello");
  });

  it("[MCP-12] are denied in planning mode, and by a persona that does not name them", async () => {
    const file = noted();
    const planning = await openMcp(
      { bad: hostile("sound", file) },
      { steps: ACT, columns: { plan_mode: true } },
    );
    expect((await planning.run({ text: "go" })).answer).toContain("planning mode is on");
    const reviewed = await openMcp(
      { bad: hostile("sound", file) },
      { steps: ACT, columns: { persona_name: "reviewer" } },
    );
    const before = startsIn(file).length;
    expect((await reviewed.run({ text: "go" })).answer).toContain("there is no tool of this name");
    expect(reviewed.server.offeredTools().flat()).not.toContain("bad__act");
    // nothing of it is started
    expect(startsIn(file)).toHaveLength(before);
    expect(callsIn(file)).toEqual([]);
  });

  it("[MCP-12] are those alone that a persona names", async () => {
    const bench = await openMcp(
      { sound: SOUND },
      { steps: [...ECHO, { name: "sound__fail" }], columns: { persona_name: "narrow" } },
    );
    mkdirSync(join(bench.repo, ".reprise/personas"), { recursive: true });
    writeFileSync(
      join(bench.repo, ".reprise/personas/narrow.md"),
      "---\nname: narrow\ndescription: one tool\ntools: [sound__echo]\n---\nBe brief.\n",
    );
    await bench.run({ text: "go" });
    expect(bench.server.offeredTools()[0]).toEqual(expect.arrayContaining(["sound__echo"]));
    expect(bench.server.offeredTools()[0]).not.toContain("sound__fail");
  });

  it("[MCP-11] are fixed for the thread: a server that is added later waits, one that is gone is refused", async () => {
    const file = noted();
    const bench = await openMcp({ bad: hostile("sound", file) }, { steps: ACT });
    expect((await bench.run({ text: "go" })).answer).toBe("end: called");
    bench.configure({ sound: SOUND });
    const { answer } = await bench.run({ text: "again" });
    expect(answer).toContain("the MCP server of bad__act is not configured any more");
    const offered = bench.server.offeredTools();
    expect(new Set(offered.map((names) => names.join())).size).toBe(1);
    expect(offered.at(-1)).toContain("bad__act");
    expect(offered.at(-1)).not.toContain("sound__echo");
    expect(callsIn(file)).toHaveLength(1);
  });

  it("[MCP-11] whose server does not have them any more are refused", async () => {
    const bench = await openMcp({ bad: hostile("vanishes", noted()) }, { steps: ACT });
    expect((await bench.run({ text: "go" })).answer).toBe("end: called");
    expect((await bench.run({ text: "again" })).answer).toContain(
      "does not have this tool any more",
    );
  });

  it("[MCP-13] that have changed ask again, whatever is allowed", async () => {
    const file = noted();
    const bench = await openMcp({ bad: hostile("changes", file) }, { steps: ACT });
    expect((await bench.run({ text: "go" })).answer).toBe("end: called");
    expect((await bench.run({ text: "again" })).state).toBe("waiting");
    expect(callsIn(file)).toHaveLength(1);
    const question = await bench.answer("allow_once");
    expect(question?.text).toContain("has changed the description");
    expect(question?.text).toContain("sends all it reads away");
    expect((await bench.run()).answer).toBe("end: called");
    expect(callsIn(file)).toHaveLength(2);
  });

  it("[MCP-13] that change while the server runs ask again, too", async () => {
    const file = noted();
    const bench = await openMcp(
      { bad: hostile("changes_while_open", file) },
      { steps: [...ACT, ...ACT] },
    );
    expect((await bench.run({ text: "go" })).state).toBe("waiting");
    expect(callsIn(file)).toHaveLength(1);
  });

  it("[MCP-14] return text: other parts are named, and failures are failures", async () => {
    const bench = await openMcp(
      { sound: SOUND },
      { steps: [{ name: "sound__parts" }, { name: "sound__fail" }] },
    );
    expect((await bench.run({ text: "go" })).answer).toBe("end: Error: no such row");
    const results = bench.server
      .requests()
      .at(-1)
      ?.filter(({ role }) => role === "tool");
    expect(results?.[0]?.content).toBe(
      "[image, image/png, 6 bytes: not shown]\n\n[resource file:///notes.txt: notes]\n\n[resource file:///a.txt]\ninside",
    );
    const ended = bench.events.filter(({ type }) => type === "tool_result");
    expect(ended).toMatchObject([{ status: "ok" }, { status: "failed" }]);
  });

  it("[MCP-14] report their progress as output, without control characters", async () => {
    const bench = await openMcp({ sound: SOUND }, { steps: [{ name: "sound__progress" }] });
    expect((await bench.run({ text: "go" })).answer).toBe("end: done");
    expect(bench.outputs).toEqual(["1 of 2 half␛[2J done\n"]);
  });

  it("[MCP-15] have an unknown outcome if their server ends in the call", async () => {
    const bench = await openMcp({ bad: hostile("dies_in_call") }, { steps: ACT });
    expect((await bench.run({ text: "go" })).answer).toContain("It may have taken effect or not");
    const ended = bench.events.filter(({ type }) => type === "tool_result");
    expect(ended).toMatchObject([{ status: "unknown" }]);
  });

  it("[MCP-15] are not called again without a yes if they were interrupted", async () => {
    const file = noted();
    const bench = await openMcp({ bad: hostile("silent_call", file) }, { steps: ACT });
    const stop = new AbortController();
    const run = bench.run({ text: "go" }, { signal: stop.signal });
    await expect.poll(() => callsIn(file)).toHaveLength(1);
    stop.abort();
    await run.catch(() => undefined);
    expect((await bench.run({}, { repeats: "never" })).answer).toContain("Outcome unknown");
    expect(callsIn(file)).toHaveLength(1);
  });

  it("[MCP-15] have an unknown outcome if they do not end in time", async () => {
    const server = { ...hostile("silent_call"), timeout_ms: 100 };
    const bench = await openMcp({ bad: server }, { steps: ACT });
    expect((await bench.run({ text: "go" })).answer).toContain("did not answer in time");
    const ended = bench.events.filter(({ type }) => type === "tool_result");
    expect(ended).toMatchObject([{ status: "unknown" }]);
  });

  it("[MCP-16] get the variables that the config names, whose values no model is sent", async () => {
    const bench = await openMcp(
      { sound: { ...SOUND, env: { SERVER_TOKEN: "t-${ITS_TOKEN}" } } },
      {
        steps: [
          { name: "sound__variable", args: { name: "SERVER_TOKEN" } },
          { name: "sound__variable", args: { name: "OPENAI_API_KEY" } },
        ],
        env: { ITS_TOKEN: "very-secret-value", OPENAI_API_KEY: "sk-test-of-a-key" },
      },
    );
    expect((await bench.run({ text: "go" })).answer).toBe("end: (not set)");
    const sent = JSON.stringify(bench.server.requests());
    expect(sent).toContain("[SERVER_TOKEN]");
    expect(sent).not.toContain("very-secret-value");
  });

  it("[MCP-20] of a dead server are missing, with a notice, and the exchange is done", async () => {
    const bench = await openMcp({ bad: hostile("dies"), sound: SOUND }, { steps: ECHO });
    expect((await bench.run({ text: "go" })).answer).toBe("end: echo: hello");
    expect(bench.notices()).toEqual([expect.stringContaining("The MCP server bad cannot be used")]);
  });

  it("[MCP-134] of a server that could not be started are there in the next fresh context", async () => {
    const program = join(temporaryFolder(), "server");
    const bench = await openMcp({ sound: { ...SOUND, command: program } }, { steps: ECHO });
    await bench.run({ text: "go" });
    expect(bench.notices()).toEqual([
      expect.stringContaining("The MCP server sound cannot be used"),
    ]);
    symlinkSync(process.execPath, program);
    await bench.store.write(startThread, { id: bench.id, archive: true });
    expect((await bench.run({ text: "go" })).answer).toBe("end: echo: hello");
  });

  it("[MCP-134] of a server that could not be started are asked for again after a summary in the same exchange", async () => {
    const program = join(temporaryFolder(), "server");
    const servers = new Servers({
      servers: [
        {
          name: "sound",
          place: { kind: "program", command: program, args: SOUND["args"] as string[], env: {} },
          tools: null,
          timeoutMs: 60_000,
          client: null,
          hash: "0",
          secrets: [],
        },
      ],
      unusable: [],
      problems: [],
      env: {},
      folder: null,
      version: "0.0.0",
      listTimeoutMs: 60_000,
      session_id: "00000000-0000-4000-8000-000000000000",
      cwd: null,
      conceal: (given) => given,
      onSecrets: () => {},
    });
    onTestFinished(() => servers.end());
    const problems: string[] = [];
    const tools = new ServerTools({
      servers,
      permit: async () => {},
      declared: new ToolSet([]),
      isDenied: () => false,
      known: [],
      kept: async () => new Map(),
      asks: true,
      isGivenBack: () => false,
      onProblem: (sentence) => problems.push(sentence),
      onOutput: () => {},
    });
    const offered = async (summary: string | null) =>
      (await tools.offered(summary)).map(({ name }) => name);
    expect(await offered(null)).toEqual([]);
    symlinkSync(process.execPath, program);
    // a prefix has the tools of its first call, whichever model is asked
    expect(await offered(null)).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(await offered("a summary")).toContain("sound__echo");
    expect(problems).toHaveLength(1);
  });
});
