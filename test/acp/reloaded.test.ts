import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { startEditor } from "../helpers/editor.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { startProvider } from "../helpers/providers/start.ts";
import { call, reasoning, text } from "../helpers/providers/steps.ts";
import { freshHome } from "../helpers/reprise.ts";

it("[ACP-61] a session that is loaded has what its model thought, before its calls and answers and once", async () => {
  const answers = [
    [reasoning("I write."), call("update_tasks", { tasks: [{ text: "a", state: "done" }] })],
    [reasoning("It is done."), text("Done.")],
    [{ kind: "reasoning", text: "secret", isRedacted: true }, text("Again.")],
  ] as const;
  const provider = await startProvider("anthropic", (index) => answers[index] ?? [text("more")]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: "anthropic:claude-sonnet-5-5" });
  const first = await startEditor(home);
  const sessionId = await first.begin();
  await first.prompt(sessionId, "one");
  await first.prompt(sessionId, "two");
  await first.leave();
  const second = await startEditor(home);
  await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  const whole = [
    "user: one",
    "thought: I write.",
    "thought: It is done.",
    "agent: Done.",
    "user: two",
    "agent: Again.",
  ];
  expect(second.transcript()).toEqual(whole);
  await second.prompt(sessionId, "three");
  expect(second.transcript()).toEqual([...whole, "agent: more"]);
  const third = await startEditor(home);
  await third.request("session/resume", { sessionId, cwd: home.project, mcpServers: [] });
  expect(third.transcript()).toEqual([]);
});

it("[ACP-62] an editor works on PostgreSQL: prompts, permissions, loading, and what another process writes", async () => {
  const { url } = await createPostgres();
  const server = await startModelServer({
    answer: (messages, index) =>
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
        : { content: `answer to ${messages.findLast(({ role }) => role === "user")?.content}` },
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:test",
    REPRISE_DATABASE: url,
  });
  const editor = await startEditor(home, { onPermission: () => "allow_once" });
  const sessionId = await editor.begin();
  await editor.prompt(sessionId, "write");
  expect(existsSync(join(home.project, "a.txt"))).toBe(true);
  const { code } = await home.call(["--session", sessionId, "-p", "elsewhere"]);
  expect(code).toBe(0);
  const lines = [
    "call: write_file a.txt",
    "completed: w",
    "agent: answer to write",
    "user: elsewhere",
    "agent: answer to elsewhere",
  ];
  // an answer may come in pieces
  await expect.poll(() => editor.transcript()).toEqual(lines);
  editor.running.child.kill("SIGKILL");
  const second = await startEditor(home);
  const { sessions } = await second.request("session/list", { cwd: home.project });
  expect(sessions.map((each) => each.sessionId)).toEqual([sessionId]);
  await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  expect(second.transcript()).toEqual(["user: write", ...lines]);
  await second.request("session/delete", { sessionId });
  expect((await second.request("session/list", {})).sessions).toEqual([]);
  expect(server.refused()).toEqual([]);
});
