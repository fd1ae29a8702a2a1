import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { type Editor, startEditor } from "../helpers/editor.ts";
import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";

interface Held {
  readonly answer?: (index: number) => ModelAnswer;
  readonly latencyMs?: number;
}

async function homeWith({ answer, latencyMs = 0 }: Held = {}) {
  const server = await startModelServer({
    answer: (_, index) => answer?.(index) ?? { content: `answer ${index}` },
    latencyMs,
    chunkSize: 1,
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  return { server, home };
}

const writing = (index: number): ModelAnswer =>
  index === 0
    ? {
        toolCalls: [
          {
            name: "write_file",
            arguments: JSON.stringify({ path: "a.txt", content: "x" }),
            id: "w",
          },
        ],
      }
    : { content: `answer ${index}` };

/** Text that arrives for ten minutes, if nobody stops it. */
const LONG = { answer: (): ModelAnswer => ({ content: "word ".repeat(6000) }), latencyMs: 20 };

/** Messages and calls of a session: hints of the program may follow its loading at once. */
const storedIn = (editor: Editor): readonly string[] =>
  editor.transcript().filter((line) => !line.startsWith("thought: "));

describe("an editor and others on one session", () => {
  it("[ACP-40] shows what a terminal writes meanwhile, and the terminal has what the editor wrote", async () => {
    const { home } = await homeWith();
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "from the editor");
    const { stdout } = await home.call(["--session", sessionId, "-p", "from the terminal"]);
    expect(stdout).toContain("answer 1");
    await editor.until(
      (each) =>
        each.sessionUpdate === "agent_message_chunk" &&
        each.content.type === "text" &&
        editor.transcript().includes("agent: answer 1"),
    );
    expect(editor.transcript()).toEqual([
      "agent: answer 0",
      "user: from the terminal",
      "agent: answer 1",
    ]);
    await home.call(["--session", sessionId, "-p", "and again", "--permission", "edits"]);
    await editor.until(
      (each) =>
        each.sessionUpdate === "config_option_update" &&
        each.configOptions.some(({ currentValue }) => currentValue === "edits"),
    );
    await editor.prompt(sessionId, "again");
    const shown = await home.call(["sessions", "show", sessionId]);
    for (const text of ["from the editor", "from the terminal", "again", "answer 3"]) {
      expect(shown.stdout).toContain(text);
    }
  });

  it("[ACP-14] takes an answer that is given elsewhere, and takes its own question back", async () => {
    const { home } = await homeWith({ answer: writing });
    const cancelled = Promise.withResolvers<void>();
    const isAsked = Promise.withResolvers<void>();
    const editor = await startEditor(home, {
      onPermission: (_, signal) => {
        signal.addEventListener("abort", () => cancelled.resolve());
        isAsked.resolve();
        return new Promise<null>((resolve) => {
          signal.addEventListener("abort", () => resolve(null));
        });
      },
    });
    const sessionId = await editor.begin();
    const prompting = editor.prompt(sessionId, "write");
    await isAsked.promise;
    await home.call(["sessions", "answer", sessionId, "allow_once"]);
    await cancelled.promise;
    expect(await prompting).toMatchObject({ stopReason: "end_turn" });
    expect(existsSync(join(home.project, "a.txt"))).toBe(true);
  });

  it("[ACP-15] asks again after the editor was away, and continues without a prompt", async () => {
    const { home } = await homeWith({ answer: writing });
    const isAsked = Promise.withResolvers<void>();
    const first = await startEditor(home, {
      onPermission: () => {
        isAsked.resolve();
        return new Promise<never>(() => {});
      },
    });
    const sessionId = await first.begin();
    first.prompt(sessionId, "write").catch(() => undefined);
    await isAsked.promise;
    await first.leave();
    const second = await startEditor(home, { onPermission: () => "allow_once" });
    await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    await second.until(
      (each) => each.sessionUpdate === "agent_message_chunk" && each.content.type === "text",
    );
    expect(existsSync(join(home.project, "a.txt"))).toBe(true);
    expect(second.transcript()).toEqual([
      "user: write",
      "call: write_file a.txt",
      "completed: w",
      expect.stringMatching(/^agent: a/),
    ]);
  });

  it("[ACP-16] [ACP-41] cancels a prompt and keeps what had arrived; a second editor waits for its turn", async () => {
    const { home } = await homeWith(LONG);
    const first = await startEditor(home);
    const sessionId = await first.begin();
    const running = first.prompt(sessionId, "long");
    await first.until(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    await expect(first.prompt(sessionId, "too")).rejects.toMatchObject({
      data: { code: "session_busy" },
    });
    await expect(
      first.request("session/load", { sessionId, cwd: home.project, mcpServers: [] }),
    ).rejects.toMatchObject({ data: { code: "session_busy" } });
    const second = await startEditor(home, { capabilities: { session: { notices: {} } } });
    await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    const waiting = second.prompt(sessionId, "from the second");
    await second.until(
      (each) => each.sessionUpdate === "notice" && each.title.includes("waits for its turn"),
    );
    await second.notify("session/cancel", { sessionId });
    expect(await waiting).toEqual({ stopReason: "cancelled" });
    await first.notify("session/cancel", { sessionId });
    expect(await running).toMatchObject({ stopReason: "cancelled" });
    const third = await startEditor(home);
    await third.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    expect(third.transcript()).toEqual(["user: long", expect.stringMatching(/^agent: w/)]);
  });

  it("[ACP-16] cancels what waits for an answer: it is asked nowhere any more", async () => {
    const { home } = await homeWith({ answer: writing });
    const isAsked = Promise.withResolvers<void>();
    const editor = await startEditor(home, {
      onPermission: (_, signal) => {
        isAsked.resolve();
        return new Promise<null>((resolve) => {
          signal.addEventListener("abort", () => resolve(null));
        });
      },
    });
    const sessionId = await editor.begin();
    const prompting = editor.prompt(sessionId, "write");
    await isAsked.promise;
    await editor.notify("session/cancel", { sessionId });
    expect(await prompting).toMatchObject({ stopReason: "cancelled" });
    const { code } = await home.call(["sessions", "answer", sessionId, "allow_once"]);
    expect(code).not.toBe(0);
    expect(await editor.prompt(sessionId, "another")).toMatchObject({ stopReason: "end_turn" });
    expect(existsSync(join(home.project, "a.txt"))).toBe(false);
  });

  it("[ACP-50] ends also if the client reads nothing", async () => {
    const { home } = await homeWith();
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "x".repeat(500_000));
    const { child } = editor.running;
    child.stdout?.pause();
    const load = { sessionId, cwd: home.project, mcpServers: [] };
    editor.request("session/load", load).catch(() => undefined);
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    child.stdout?.resume();
  });

  it.each(["SIGTERM", "end", "SIGKILL"] as const)(
    "[ACP-50] [ACP-51] loses nothing when it ends by %s in the middle of a prompt",
    async (how) => {
      const { home } = await homeWith(LONG);
      const first = await startEditor(home);
      const sessionId = await first.begin();
      first.prompt(sessionId, "long").catch(() => undefined);
      await first.until(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
      if (how === "end") {
        await first.leave();
      } else {
        await first.running.stop(how);
      }
      expect(first.running.stderr()).toBe("");
      const second = await startEditor(home);
      await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
      expect(storedIn(second)).toEqual(
        how === "SIGKILL" ? ["user: long"] : ["user: long", expect.stringMatching(/^agent: w/)],
      );
      if (how === "SIGKILL") {
        await second.until(
          (each) =>
            each.sessionUpdate === "agent_thought_chunk" &&
            each.content.type === "text" &&
            each.content.text.includes("/continue"),
        );
      }
      const { code } = await home.call(["sessions", "verify", sessionId]);
      expect(code).toBe(0);
    },
  );
});

it("[ACP-51] [ACP-20] shows a call that was killed as failed, and continues after /continue", async () => {
  const line = "echo begun > begun; sleep 60";
  const { home } = await homeWith({
    answer: (index) =>
      index === 0
        ? {
            toolCalls: [
              {
                name: "run_command",
                arguments: JSON.stringify({ line, access: "outside" }),
                id: "r",
              },
            ],
          }
        : { content: "after it" },
  });
  const first = await startEditor(home, { onPermission: () => "allow_once" });
  const sessionId = await first.begin();
  first.prompt(sessionId, "run").catch(() => undefined);
  await expect.poll(() => existsSync(join(home.project, "begun"))).toBe(true);
  await first.running.stop("SIGKILL");
  const second = await startEditor(home, { onPermission: () => "skip" });
  await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  expect(storedIn(second)).toEqual([
    "user: run",
    expect.stringMatching(/^call: run_command /),
    "failed: r",
  ]);
  expect(await second.prompt(sessionId, "/continue")).toMatchObject({ stopReason: "end_turn" });
  expect(second.asked[0]?.options.map(({ optionId, kind }) => [optionId, kind])).toEqual([
    ["again", "allow_once"],
    ["skip", "reject_once"],
  ]);
  expect(second.transcript().at(-1)).toBe("agent: after it");
  const shown = await home.call(["sessions", "show", sessionId]);
  expect(shown.stdout.match(/after it/g)).toHaveLength(1);
});
