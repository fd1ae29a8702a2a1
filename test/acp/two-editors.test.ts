import { existsSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { type Editor, type EditorOptions, startEditor } from "../helpers/editor.ts";
import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { type Home, freshHome } from "../helpers/reprise.ts";

/** Answers by the last message of the user: `write FILE` calls a tool first, `long …` takes a minute. */
async function homeOfTwo() {
  const server = await startModelServer({
    answer: (messages) => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const said = String(messages[at]?.content).split("\n", 1).join("");
      const path = /^write (.*)$/.exec(said)?.[1];
      return path !== undefined && at === messages.length - 1
        ? { toolCalls: [{ name: "write_file", arguments: JSON.stringify({ path, content: "x" }) }] }
        : { content: said.startsWith("long") ? "word ".repeat(600) : `answer to ${said}` };
    },
    latencyMs: 20,
    chunkSize: 4,
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  return { server, home };
}

/** Another editor that has loaded the session. */
async function loaded(home: Home, sessionId: string, options?: EditorOptions): Promise<Editor> {
  const editor = await startEditor(home, options);
  await editor.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  return editor;
}

/** Asked for a permission, which it never answers; `isTaken` resolves when it is taken back. */
function silent() {
  const [isAsked, isTaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const options: EditorOptions = {
    onPermission: (_, signal) => {
      isAsked.resolve();
      return new Promise<null>((resolve) => {
        signal.addEventListener("abort", () => {
          isTaken.resolve();
          resolve(null);
        });
      });
    },
  };
  return { options, isAsked: isAsked.promise, isTaken: isTaken.promise };
}

async function sound(home: Home, sessionId: string, requests: readonly SentMessage[][]) {
  expect((await home.call(["sessions", "verify", sessionId])).code).toBe(0);
  for (const messages of requests) {
    const texts = messages.filter(({ role }) => role === "user").map(({ content }) => content);
    expect(new Set(texts).size).toBe(texts.length);
  }
}

describe("two editors on one session", () => {
  it("[ACP-90] that both load it and both prompt at once have both answers, and each shows everything once", async () => {
    const { home, server } = await homeOfTwo();
    const first = await startEditor(home);
    const sessionId = await first.begin();
    await first.prompt(sessionId, "begin");
    const second = await loaded(home, sessionId);
    const names = ["one", "two", "three"];
    for (const name of names) {
      const ends = await Promise.all([
        first.prompt(sessionId, `first ${name}`),
        second.prompt(sessionId, `second ${name}`),
      ]);
      expect(ends.map(({ stopReason }) => stopReason)).toEqual(["end_turn", "end_turn"]);
    }
    const third = await loaded(home, sessionId);
    const whole = third.transcript();
    const expected = ["begin", ...names.flatMap((name) => [`first ${name}`, `second ${name}`])];
    expect(whole.toSorted()).toEqual(
      expected.flatMap((text) => [`agent: answer to ${text}`, `user: ${text}`]).toSorted(),
    );
    for (const [at, line] of whole.entries()) {
      // no exchange is in the middle of another
      expect([line, at % 2]).toEqual([line, line.startsWith("user: ") ? 0 : 1]);
    }
    const answers = (editor: Editor) =>
      editor
        .transcript()
        .filter((line) => line.startsWith("agent: answer"))
        .toSorted();
    for (const editor of [first, second]) {
      await expect.poll(() => answers(editor)).toEqual(answers(third));
    }
    await sound(home, sessionId, server.requests());
  });

  it("[ACP-91] one that cancels stops nothing of the other, and one that is killed leaves the session to it", async () => {
    const { home, server } = await homeOfTwo();
    const first = await startEditor(home);
    const sessionId = await first.begin();
    const running = first.prompt(sessionId, "long").catch(() => null);
    await first.until(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    const second = await loaded(home, sessionId, { capabilities: { session: { notices: {} } } });
    // nothing of it runs
    await second.notify("session/cancel", { sessionId });
    const waiting = second.prompt(sessionId, "after it");
    await second.until(
      (each) => each.sessionUpdate === "notice" && each.title.includes("waits for its turn"),
    );
    const shown = () => first.transcript().at(-1)?.length ?? 0;
    const before = shown();
    await expect.poll(shown).toBeGreaterThan(before);
    await first.running.stop("SIGKILL");
    await running;
    expect(await waiting).toMatchObject({ stopReason: "end_turn" });
    const third = await loaded(home, sessionId);
    expect(third.transcript()).toEqual([
      "user: long",
      "user: after it",
      "agent: answer to after it",
    ]);
    await sound(home, sessionId, server.requests());
  });

  it("[ACP-92] a question is asked in both; the first answer counts, in a terminal too, and both take it back", async () => {
    const { home, server } = await homeOfTwo();
    const [one, two] = [silent(), silent()];
    const first = await startEditor(home, one.options);
    const sessionId = await first.begin();
    const second = await loaded(home, sessionId, two.options);
    const prompting = first.prompt(sessionId, "write a.txt");
    await Promise.all([one.isAsked, two.isAsked]);
    expect((await home.call(["sessions", "answer", sessionId, "allow_once"])).code).toBe(0);
    await Promise.all([one.isTaken, two.isTaken]);
    expect(await prompting).toMatchObject({ stopReason: "end_turn" });
    expect(existsSync(join(home.project, "a.txt"))).toBe(true);
    await second.until(() => second.transcript().includes("agent: answer to write a.txt"));
    const third = await loaded(home, sessionId);
    expect(third.transcript()).toEqual([
      "user: write a.txt",
      "call: write_file a.txt",
      expect.stringMatching(/^completed: /),
      "agent: answer to write a.txt",
    ]);
    await sound(home, sessionId, server.requests());
  });

  it("[ACP-92] the editor that answers after the one that asked was killed continues, once", async () => {
    const { home, server } = await homeOfTwo();
    const [one, allow] = [silent(), Promise.withResolvers<string>()];
    const first = await startEditor(home, one.options);
    const sessionId = await first.begin();
    const second = await loaded(home, sessionId, { onPermission: () => allow.promise });
    first.prompt(sessionId, "write a.txt").catch(() => undefined);
    await one.isAsked;
    await expect.poll(() => second.asked.length).toBe(1);
    await first.running.stop("SIGKILL");
    allow.resolve("allow_once");
    await second.until(() => second.transcript().includes("agent: answer to write a.txt"));
    expect(existsSync(join(home.project, "a.txt"))).toBe(true);
    expect(server.requests()).toHaveLength(2);
    await sound(home, sessionId, server.requests());
  });

  it("[ACP-92] two answers at once are one: the call runs once and the exchange continues once", async () => {
    const { home, server } = await homeOfTwo();
    const allow = Promise.withResolvers<string>();
    const first = await startEditor(home, { onPermission: () => allow.promise });
    const sessionId = await first.begin();
    const second = await loaded(home, sessionId, { onPermission: () => allow.promise });
    const prompting = first.prompt(sessionId, "write a.txt");
    await expect.poll(() => first.asked.length + second.asked.length).toBe(2);
    allow.resolve("allow_once");
    expect(await prompting).toMatchObject({ stopReason: "end_turn" });
    expect(server.requests()).toHaveLength(2);
    expect(await second.prompt(sessionId, "and on")).toMatchObject({ stopReason: "end_turn" });
    const third = await loaded(home, sessionId);
    expect(third.transcript().filter((line) => line.startsWith("completed"))).toHaveLength(1);
    await sound(home, sessionId, server.requests());
  });
});
