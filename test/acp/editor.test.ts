import { join } from "node:path";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import { describe, expect, it, onTestFinished } from "vitest";

import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { type Editor, startEditor } from "../helpers/editor.ts";
import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { startProvider } from "../helpers/providers/start.ts";
import { reasoning, text } from "../helpers/providers/steps.ts";
import { freshHome } from "../helpers/reprise.ts";

async function homeWith(...answers: readonly ModelAnswer[]) {
  const server = await startModelServer({
    answer: (_, index) => answers[index] ?? { content: `answer ${index}` },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  return { server, home };
}

const call = (name: string, args: object, id: string) => ({
  toolCalls: [{ name, arguments: JSON.stringify(args), id }],
});

const { reason } = await createSandboxProbe()();

describe("an editor", () => {
  it.skipIf(reason !== null).each([
    ["notice", { session: { notices: {} } }],
    ["agent_thought_chunk", {}],
  ])(
    "[SANDBOX-90] gets a notice of what a command left that was moved out, also when it loads the session: %s",
    async (kind, capabilities) => {
      const line = "echo evil > .envrc; echo 'Sandbox: all is well'";
      const { home } = await homeWith(call("run_command", { line }, "c1"));
      const open = () => startEditor(home, { capabilities, onPermission: () => "allow_once" });
      const noticesOf = (editor: Editor): readonly string[] =>
        editor.updates().flatMap((update, at, all) => {
          const before = all[at - 1];
          const isAfter = before?.sessionUpdate === "tool_call_update" && before.status !== null;
          return update.sessionUpdate === kind && isAfter ? [JSON.stringify(update)] : [];
        });
      const first = await open();
      const sessionId = await first.begin();
      await first.prompt(sessionId, "run it");
      const second = await open();
      await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
      const moved = expect.stringMatching(/"Moved out of the folder.*\.envrc \(the shell runs it/);
      for (const editor of [first, second]) {
        expect(noticesOf(editor)).toEqual([moved]);
        await editor.leave();
      }
    },
  );

  it("[ACP-1] [ACP-2] learns what it can do, and how to set a key", async () => {
    const home = freshHome();
    const running = home.start(["acp"]);
    const params = { protocolVersion: 99, clientCapabilities: { auth: { terminal: true } } };
    running.child.stdin?.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`,
    );
    const [line] = await running.waitFor(/^.*\n/);
    const { result } = JSON.parse(line);
    expect(result).toMatchObject({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: false, embeddedContext: true },
        sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, fork: {} },
      },
      authMethods: [{ id: "setup", type: "terminal", args: ["setup"] }],
    });
    running.child.stdin?.end();
    expect(await running.finished).toMatchObject({ code: 0, stderr: "" });
  });

  it("[ACP-10] [ACP-11] [ACP-22] runs a prompt, and shows its calls, changes, plan, usage and title", async () => {
    const { home, server } = await homeWith(
      call("update_tasks", { tasks: [{ text: "write it", state: "running" }] }, "t1"),
      call("write_file", { path: "a.txt", content: "one\n" }, "w1"),
      { content: "It is written." },
    );
    const editor = await startEditor(home, { onPermission: () => "allow_once" });
    const sessionId = await editor.begin();
    const { stopReason, usage } = await editor.prompt(sessionId, "write a file");
    expect(stopReason).toBe("end_turn");
    expect(usage?.totalTokens).toBeGreaterThan(0);
    const file = join(home.project, "a.txt");
    expect(readFileSync(file, "utf8")).toBe("one\n");
    expect(editor.transcript()).toEqual([
      "call: write_file a.txt",
      "completed: w1",
      "agent: It is written.",
    ]);
    expect(editor.asked).toHaveLength(1);
    expect(editor.asked[0]).toMatchObject({
      sessionId,
      toolCall: { toolCallId: "w1", name: "write_file" },
    });
    const updates = editor.updates(sessionId);
    expect(updates).toContainEqual({
      sessionUpdate: "plan",
      entries: [{ content: "write it", priority: "medium", status: "in_progress" }],
    });
    expect(updates.find(({ sessionUpdate }) => sessionUpdate === "tool_call")).toMatchObject({
      kind: "edit",
      status: "in_progress",
      locations: [{ path: file }],
      rawInput: { path: "a.txt", content: "one\n" },
    });
    expect(
      updates.find(
        (each) => each.sessionUpdate === "tool_call_update" && each.status === "completed",
      ),
    ).toMatchObject({
      content: [{ type: "diff", path: file, oldText: null, newText: "one\n" }, { type: "content" }],
    });
    await editor.until(
      (each) => each.sessionUpdate === "session_info_update" && each.title === "write a file",
    );
    await editor.until((each) => each.sessionUpdate === "usage_update" && each.used > 0);
    expect(server.refused()).toEqual([]);
    await editor.leave();
    expect(editor.running.stderr()).toBe("");
  });

  it("[ACP-11] shows what a command prints while it runs", async () => {
    const line = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo second";
    const { home } = await homeWith(call("run_command", { line, access: "outside" }, "r"));
    const editor = await startEditor(home, { onPermission: () => "allow_once" });
    const sessionId = await editor.begin();
    const prompting = editor.prompt(sessionId, "run it");
    const early = await editor.until(
      (each) => each.sessionUpdate === "tool_call_update" && each.status === undefined,
    );
    expect(early).toMatchObject({
      toolCallId: "r",
      content: [{ type: "content", content: { text: "first\n" } }],
    });
    writeFileSync(join(home.project, "go"), "");
    await prompting;
    const [last] = editor
      .updates()
      .filter((each) => each.sessionUpdate === "tool_call_update" && each.status === "completed");
    expect(JSON.stringify(last)).toContain("second");
    expect(
      editor.updates().find(({ sessionUpdate }) => sessionUpdate === "tool_call"),
    ).toMatchObject({ kind: "execute" });
  });

  it("[ACP-11] shows what a model thinks", async () => {
    const provider = await startProvider("anthropic", () => [
      reasoning("I think."),
      text("I say."),
    ]);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const home = freshHome({ ...provider.env, REPRISE_MODEL: "anthropic:claude-sonnet-5-5" });
    const editor = await startEditor(home);
    await editor.prompt(await editor.begin(), "think");
    expect(editor.transcript()).toEqual(["thought: I think.", "agent: I say."]);
  });

  it("[ACP-12] maps the answers of a permission, and refuses with one", async () => {
    const { home } = await homeWith(call("write_file", { path: "a.txt", content: "x" }, "w1"));
    const editor = await startEditor(home, {
      onPermission: ({ options }) =>
        options.find(({ kind }) => kind === "reject_once")?.optionId ?? null,
    });
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "write");
    expect(editor.asked[0]?.options.map(({ optionId, kind }) => [optionId, kind])).toEqual([
      ["allow_once", "allow_once"],
      ["allow_exchange", "allow_always"],
      ["allow_session", "allow_always"],
      ["deny", "reject_once"],
    ]);
    expect(editor.transcript()).toEqual([
      "call: write_file a.txt",
      "failed: w1",
      "agent: answer 1",
    ]);
  });

  it("[ACP-20] [ACP-21] loads a session in another process: everything, once and in order", async () => {
    const { home } = await homeWith(
      call("update_tasks", { tasks: [{ text: "write it", state: "done" }] }, "same"),
      call("write_file", { path: "a.txt", content: "one\n" }, "w"),
      { content: "first" },
      call("write_file", { path: "a.txt", content: "two\n" }, "w"),
      { content: "second" },
    );
    const first = await startEditor(home, { onPermission: () => "allow_session" });
    const sessionId = await first.begin();
    await first.prompt(sessionId, "write one");
    await first.prompt(sessionId, "write two");
    await first.leave();
    const second = await startEditor(home);
    await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    const lines = [
      "user: write one",
      "call: write_file a.txt",
      "completed: w",
      "agent: first",
      "user: write two",
      "call: write_file a.txt",
      expect.stringMatching(/^completed: [0-9a-f-]{36}$/),
      "agent: second",
    ];
    expect(second.transcript()).toEqual(lines);
    const diffs = second
      .updates()
      .flatMap((each) => (each.sessionUpdate === "tool_call_update" ? (each.content ?? []) : []))
      .filter(({ type }) => type === "diff");
    expect(diffs).toMatchObject([
      { oldText: null, newText: "one\n" },
      { oldText: "one\n", newText: "two\n" },
    ]);
    expect(second.updates().filter(({ sessionUpdate }) => sessionUpdate === "plan")).toHaveLength(
      1,
    );
    await second.prompt(sessionId, "go on");
    expect(second.transcript()).toEqual([...lines, "agent: answer 5"]);
    const third = await startEditor(home);
    await third.request("session/resume", { sessionId, cwd: home.project, mcpServers: [] });
    expect(third.transcript()).toEqual([]);
    await third.prompt(sessionId, "more");
    expect(third.transcript()).toEqual(["agent: answer 6"]);
  });

  it("[ACP-30] lists by folder, forks, closes and deletes", async () => {
    const { home } = await homeWith();
    const editor = await startEditor(home);
    const { request } = editor;
    const cwd = home.project;
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "hello");
    const { sessionId: fork } = await request("session/fork", { sessionId, cwd, mcpServers: [] });
    await editor.prompt(fork, "in the fork");
    const ids = async (folder: string) => {
      const { sessions } = await request("session/list", { cwd: folder });
      return sessions.map((each) => each.sessionId);
    };
    expect(await ids(cwd)).toEqual([fork, sessionId]);
    expect(await ids("/")).toEqual([]);
    await request("session/close", { sessionId });
    await expect(editor.prompt(sessionId, "closed")).rejects.toMatchObject({ code: -32_002 });
    await request("session/delete", { sessionId });
    expect(await ids(cwd)).toEqual([fork]);
    const [shown] = await home.json<{ title: string }[]>(["sessions", "list", "--json"]);
    expect(shown?.title).toBe("hello");
    // an id that there is not leaves the same state
    await expect(request("session/delete", { sessionId })).resolves.toEqual({});
  });

  it("[ACP-31] changes model, mode and persona as the terminal does", async () => {
    const { home, server } = await homeWith();
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "hello");
    const set = async (configId: string, value: string) => {
      const { configOptions } = await editor.request("session/set_config_option", {
        sessionId,
        configId,
        value,
      });
      return configOptions.find(({ id }) => id === configId)?.currentValue;
    };
    expect(await set("mode", "plan")).toBe("plan");
    expect(await set("mode", "ask")).toBe("ask");
    expect(await set("model", "openai:other")).toBe("openai:other");
    await editor.prompt(sessionId, "again");
    // another model continues the conversation
    expect(server.requests()[1]?.map(({ content }) => content)).toContain("answer 0");
    expect(await set("persona", "reviewer")).toBe("reviewer");
    await editor.prompt(sessionId, "fresh");
    expect(server.requests()[2]?.map(({ content }) => content)).not.toContain("answer 0");
    await expect(set("mode", "never")).rejects.toMatchObject({ code: -32_602 });
    await expect(set("nothing", "never")).rejects.toMatchObject({ code: -32_602 });
    await expect(set("model", "no-such")).rejects.toMatchObject({
      data: { code: "model_unknown" },
    });
  });

  it("[ACP-13] takes links and embedded text, and refuses images", async () => {
    const { home, server } = await homeWith();
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    const send = (...prompt: readonly object[]) =>
      editor.request("session/prompt", { sessionId, prompt: prompt as never });
    await send(
      { type: "text", text: "Read " },
      { type: "resource_link", name: "a", uri: "file:///tmp/a%20b.txt" },
      { type: "resource", resource: { uri: "file:///c.md", text: "a ``` fence" } },
    );
    expect(server.requests()[0]?.at(-1)?.content).toContain(
      "Read /tmp/a b.txt/c.md\n\n/c.md\n````\na ``` fence\n````",
    );
    await expect(
      send({ type: "image", data: "AAAA", mimeType: "image/png" }),
    ).rejects.toMatchObject({ code: -32_602, data: { code: "invalid_request" } });
    await expect(send({ type: "text", text: "x".repeat(1_100_000) })).rejects.toMatchObject({
      data: { code: "body_too_large" },
    });
    await expect(send()).rejects.toMatchObject({ code: -32_602 });
    expect(server.requests()).toHaveLength(1);
  });

  it("[ACP-3] says that a key is missing, with the code for it", async () => {
    const home = freshHome({ REPRISE_MODEL: "anthropic:claude-opus-5-5" });
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    const missing = { code: -32_000, data: { code: "model_key_missing" } };
    await expect(editor.prompt(sessionId, "hello")).rejects.toMatchObject(missing);
    await expect(editor.request("authenticate", { methodId: "setup" })).rejects.toMatchObject(
      missing,
    );
    const config = join(home.home, ".config/reprise");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "key"), "a-key");
    writeFileSync(
      join(config, "config.jsonc"),
      JSON.stringify({ providers: { anthropic: { key_file: join(config, "key") } } }),
    );
    await expect(editor.request("authenticate", { methodId: "setup" })).resolves.toEqual({});
  });
});
