import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import { createDatabase } from "../helpers/database.ts";
import { openMcp } from "../helpers/mcp.ts";
import { connectOver, connectProgram, ERAS, type Json, sessionWith } from "../helpers/mcp-serve.ts";
import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { type Running, startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";

const SOURCES = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));
const PRELOAD = fileURLToPath(new URL("../fixtures/programs/loaded-modules.ts", import.meta.url));

/** A home with a session that has these messages. */
async function homeWith(contents: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const home = freshHome({
    REPRISE_MODEL: "demo",
    REPRISE_DATABASE: database.location,
    ...env,
  });
  const store = await openStoreAt(database.location);
  const id = await sessionWith(store, contents);
  await store.close();
  return { home, id };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  },
};

const QUESTION = { question: "Which colour?", choices: ["red", "blue"] };

const write = ({ child }: Running, ...lines: readonly (string | object)[]): void => {
  for (const line of lines) {
    child.stdin?.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  }
};

/** The messages that a server wrote; each line is one. */
const messagesOf = (stdout: string): Json[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe.each(ERAS)("`mcp serve`, protocol %s", (era) => {
  it("[SERVE-1] [SERVE-2] [CLI-470] speaks with the SDK's client, reads, and runs an exchange if it may", async () => {
    const { home, id } = await homeWith(["hello"]);
    const reading = await connectProgram(home, era);
    expect(reading.client.getNegotiatedProtocolVersion()).toBe(era);
    expect(await reading.value("session_read", { session_id: id })).toMatchObject({
      session: { id },
      messages: [{ seq: 1, content: "hello" }],
    });
    expect(await reading.error("exchange_run", { session_id: id, content: "x" })).toMatchObject({
      code: "invalid_usage",
    });
    const writing = await connectProgram(home, era, ["--allow-write"]);
    const { exchange } = await writing.value("exchange_run", {
      session_id: id,
      content: "and now",
    });
    let followed: Json;
    do {
      followed = await writing.value("exchange_follow", { session_id: id, n: exchange.n });
    } while (!followed.is_over);
    expect(followed).toMatchObject({
      exchange: { n: 2, state: "done" },
      answer: { role: "assistant" },
      waits_for: null,
    });
  });
});

describe("`mcp serve`", () => {
  it("[SERVE-19] says that a person is asked, and continues once the person has answered", async () => {
    const server = await startModelServer({
      answer: (messages): ModelAnswer =>
        messages.at(-1)?.role === "tool"
          ? { content: `it is ${messages.at(-1)?.content}` }
          : { toolCalls: [{ name: "ask_user", arguments: JSON.stringify(QUESTION) }] },
    });
    const { home, id } = await homeWith([], {
      ...server.env("openai"),
      REPRISE_MODEL: "openai:gpt-test",
    });
    const { value, error } = await connectProgram(home, "2026-07-28", ["--allow-write"]);
    const { exchange } = await value("exchange_run", {
      session_id: id,
      content: "paint",
      wait_seconds: 0,
    });
    const follow = async () => {
      for (;;) {
        const followed = await value("exchange_follow", { session_id: id, n: exchange.n });
        if (!["queued", "running"].includes(followed.exchange.state)) {
          return followed;
        }
      }
    };
    expect(await follow()).toMatchObject({
      exchange: { n: 1, state: "waiting" },
      is_over: false,
      waits_for: {
        who: "person",
        questions: [{ text: QUESTION.question, choices: ["red", "blue"] }],
      },
    });
    expect(await error("exchange_run", { session_id: id, content: "red" })).toMatchObject({
      code: "question_open",
    });
    expect(await home.call(["sessions", "answer", id, "blue"])).toMatchObject({ code: 0 });
    expect(await follow()).toMatchObject({
      exchange: { n: 1, state: "done" },
      answer: { content: expect.stringContaining("blue") },
      waits_for: null,
    });
  });

  it("[SERVE-20] writes nothing but messages to standard output, and ends when its input does", async () => {
    const { home } = await homeWith(["hello"]);
    const program = home.start(["mcp", "serve"]);
    write(
      program,
      "not json",
      "[1,2",
      JSON.stringify([INITIALIZE]),
      INITIALIZE,
      { jsonrpc: "2.0", method: "notifications/initialized" },
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sessions_list","arguments":{"__proto__":{"limit":1}}}}',
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "nothing", arguments: {} } },
      { jsonrpc: "2.0", id: 3, method: "no/such" },
      { jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: 5, arguments: "x" } },
    );
    await program.waitFor(/"id":4\b/);
    await program.waitFor(/"id":1\b/);
    program.child.stdin?.end();
    const { code, stdout, stderr } = await program.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const messages = messagesOf(stdout);
    expect(messages.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    const byId = new Map(messages.map((message) => [message.id, message]));
    expect(byId.get(1)?.result.structuredContent.sessions).toHaveLength(1);
    expect(byId.get(2)?.error).toMatchObject({ code: -32_602 });
    expect(byId.get(3)?.error).toMatchObject({ code: -32_601 });
    expect(byId.get(4)?.error).toBeDefined();
  });

  it("[SERVE-20] answers 1,000 calls at once, and ends with an error after a message of megabytes", async () => {
    const { home, id } = await homeWith(["hello"]);
    const program = home.start(["mcp", "serve"]);
    write(program, INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" });
    const params = { name: "session_read", arguments: { session_id: id } };
    write(
      program,
      ...Array.from({ length: 1000 }, (_, n) => ({
        jsonrpc: "2.0",
        id: n + 1,
        method: "tools/call",
        params,
      })),
    );
    await expect.poll(() => messagesOf(program.stdout()).length).toBe(1001);
    expect(program.stdout().match(/"hello"/g)?.length).toBeGreaterThanOrEqual(1000);
    write(program, "x".repeat(7 * 1024 * 1024));
    const { code, stderr } = await program.finished;
    expect(code).toBe(2);
    expect(stderr).toContain("body_too_large");
    expect(stderr).not.toMatch(/\.ts:\d|xxx/);
  });

  it("[SERVE-21] ends by a signal, and leaves no process", async () => {
    const { home } = await homeWith(["hello"]);
    const program = home.start(["mcp", "serve", "--allow-write"]);
    write(program, INITIALIZE);
    await program.waitFor(/"id":0/);
    expect((await program.stop("SIGTERM")).code).toBe(0);
  });

  it("[CLI-471] refuses options that mean nothing, and a terminal's text is its help", async () => {
    const home = freshHome();
    expect(await home.call(["mcp", "serve", "--repos", "."])).toMatchObject({ code: 2 });
    expect(await home.call(["mcp", "serve", "--project", "/no/such"])).toMatchObject({ code: 2 });
    expect((await home.call(["mcp", "serve", "--help"])).stdout).toContain("--allow-write");
  });
});

describe("what is loaded", () => {
  it("[SERVE-24] is nothing of it by `serve` before a request of /mcp, and no agent by `mcp serve` that reads", async () => {
    const home = freshHome();
    const start = (...args: readonly string[]) =>
      startProcess(process.execPath, ["--import", PRELOAD, SOURCES, ...args], {
        cwd: home.project,
        env: home.environment(),
      });
    const served = /@modelcontextprotocol\/|\/src\/mcp-serve\/|\/in-process\.ts/;
    const idle = start("serve", "--port", "0");
    await idle.waitFor(/listening on/);
    expect((await idle.stop("SIGTERM")).stderr).not.toMatch(served);
    const asked = start("serve", "--port", "0");
    const [, url = ""] = await asked.waitFor(/^listening on (\S+)$/m);
    await (await connectOver(`${url}/mcp`, "2026-07-28", null)).value("sessions_list");
    expect((await asked.stop("SIGTERM")).stderr).toMatch(served);
    const reading = start("mcp", "serve");
    write(reading, INITIALIZE);
    await reading.waitFor(/"id":0/);
    const { stderr } = await reading.stop("SIGTERM");
    expect(stderr).toMatch(served);
    expect(stderr).not.toMatch(/\/(@langchain|langchain|langsmith)\/|\/src\/(agent|langgraph)\//);
  });
});

describe("Reprise's own client", () => {
  it("[SERVE-22] uses it as a server of its config", async () => {
    const { home, id } = await homeWith(["the zebra crosses"]);
    const env = home.environment();
    const bench = await openMcp(
      {
        memory: {
          command: "reprise",
          args: ["mcp", "serve"],
          env: {
            HOME: home.home,
            PATH: env["PATH"] ?? "",
            REPRISE_DATABASE: env["REPRISE_DATABASE"] ?? "",
          },
        },
      },
      {
        steps: [
          { name: "memory__session_search", args: { q: "zebra" } },
          { name: "memory__session_read", args: { session_id: id } },
        ],
        env: { PATH: env["PATH"] ?? "" },
      },
    );
    const { answer } = await bench.run({ text: "go" });
    expect(answer).toContain("the zebra crosses");
    expect(bench.server.offeredTools()[0]).toContain("memory__sessions_list");
    expect(bench.server.offeredTools()[0]).not.toContain("memory__exchange_run");
    expect(bench.notices()).toEqual([]);
  });
});

describe("a server that is killed in an exchange", () => {
  it("[SERVE-23] loses nothing and does nothing twice: the next one continues", async () => {
    let release = false;
    const server = await startModelServer({
      latencyMs: 20,
      chunkSize: 4,
      answer: (messages): ModelAnswer =>
        messages.at(-1)?.role === "tool"
          ? { content: release ? "all is done" : "a long answer ".repeat(400) }
          : {
              toolCalls: [
                {
                  name: "update_tasks",
                  arguments: JSON.stringify({ tasks: [{ text: "one", state: "done" }] }),
                },
              ],
            },
    });
    const { home, id } = await homeWith([], {
      ...server.env("openai"),
      REPRISE_MODEL: "openai:gpt-test",
    });
    const first = await connectProgram(home, "2026-07-28", ["--allow-write"]);
    const run = { session_id: id, content: "do it once", idempotency_key: "only-once" };
    await first.value("exchange_run", run);
    await expect.poll(() => server.requests().length).toBeGreaterThanOrEqual(2);
    process.kill(first.pid, "SIGKILL");
    release = true;
    const second = await connectProgram(home, "2025-11-25", ["--allow-write"]);
    const again = await second.value("exchange_run", run);
    expect(again.exchange.n).toBe(1);
    let followed: Json;
    do {
      followed = await second.value("exchange_follow", { session_id: id, n: 1, wait_seconds: 5 });
      await sleep(0);
    } while (!followed.is_over);
    expect(followed).toMatchObject({
      exchange: { state: "done" },
      answer: { content: "all is done" },
    });
    const { messages } = await second.value("session_read", { session_id: id, after_seq: 0 });
    const texts = messages.map(({ role, content }: Json) => `${role}: ${content}`);
    expect(texts.filter((text: string) => text === "user: do it once")).toHaveLength(1);
    expect(texts.filter((text: string) => text === "assistant: all is done")).toHaveLength(1);
    expect(messages.filter(({ tool_calls }: Json) => tool_calls !== undefined)).toHaveLength(1);
    expect(server.refused()).toEqual([]);
    const verified = await home.call(["sessions", "verify", id]);
    expect(verified.code).toBe(0);
  });
});
