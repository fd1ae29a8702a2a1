import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { detailOf, idLike, rowsOf, seed, sessionsOf } from "../helpers/sessions/seed.ts";

describe("lines on standard input", () => {
  it("[CLI-35] are messages, one exchange each, in order, until the input ends", async () => {
    const server = await startModelServer({
      answer: (messages) => ({ content: `to “${messages.at(-1)?.content}”` }),
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const { code, stdout, stderr } = await home.call([], {
      // the last line has no end, the blank ones are nobody's message
      input: "first\n\n  second \r\n//third\n/etc/hosts is a path\n   \n/Fourth",
    });
    const [session] = await sessionsOf(home);
    const messages = ["first", "  second ", "/third", "/etc/hosts is a path", "/Fourth"];
    expect(code).toBe(0);
    expect(stdout).toBe(messages.map((text) => `to “${text}”\n`).join(""));
    expect(stderr).toBe(`Resume with: reprise --session ${session?.id}\n`);
    expect(server.requests().map((sent) => sent.at(-1)?.content)).toEqual(messages);
    expect(rowsOf(await detailOf(home, session?.id ?? ""))).toEqual(
      messages.flatMap((text, index) => [
        [index * 2 + 1, "user", text],
        [index * 2 + 2, "assistant", `to “${text}”`],
      ]),
    );
  });

  it("[CLI-34] [CLI-22] give one JSON line for each exchange with --json; resume prints the session first", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1"), persona_name: "planner" });
    const lines = async (args: string[]): Promise<Record<string, unknown>[]> => {
      const { code, stdout, stderr } = await home.call(args, { input: "one\n/help\ntwo\n" });
      expect(code).toBe(0);
      expect(stderr).toMatch(/\/model <provider:model>/);
      return stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    const [summary, first, second, ...more] = await lines([
      "sessions",
      "resume",
      "abcdef",
      "--json",
    ]);
    expect(summary).toMatchObject({ id: idLike("abcdef1"), state: "active", last_seq: 0 });
    expect(summary).not.toHaveProperty("messages");
    expect([first, second].map((line) => line?.["last_seq"])).toEqual([2, 4]);
    expect(more).toEqual([]);
  });

  it("[CLI-22] [CLI-113] resume continues the session, and needs an id without a terminal", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1"), messages: ["My name is Ada"] });
    const resumed = await home.call(["sessions", "resume", "abcdef"], {
      input: "What is my name?\n",
    });
    expect(resumed.code).toBe(0);
    expect(resumed.stdout).toContain("Your name is Ada.");
    expect(resumed.stderr).toBe(`Resume with: reprise --session ${idLike("abcdef1")}\n`);
    const without = await home.call(["sessions", "resume"]);
    expect(without).toMatchObject({ code: 2, stdout: "" });
    expect(without.stderr).toMatch(/^reprise: Name the session: .*\[invalid_usage\]\n$/);
  });

  it("[CLI-35] [CLI-45] [CLI-119] end at the first that fails, because the others may depend on it", async () => {
    const home = freshHome();
    const { code, stdout, stderr } = await home.call([], {
      input: "one\n/nonsense\nnever sent\n",
    });
    const [session] = await sessionsOf(home);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^\[demo\]/);
    expect(stderr.split("\n")).toEqual([
      "reprise: There is no such command; /help shows them all, and // sends a message that begins with /. [invalid_usage]",
      "The rest of the input was not sent.",
      `Resume with: reprise --session ${session?.id}`,
      "",
    ]);
    expect(session?.last_seq).toBe(2);
  });
});

describe("slash commands", () => {
  it("[CLI-42] /model and /agent begin a new thread; refused ones and questions do not", async () => {
    const server = await startModelServer({
      answer: (_, index) => ({ content: `answer ${index}` }),
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:a" });
    const session = home.start(["--json"]);
    const say = async (...lines: string[]): Promise<Record<string, unknown>> => {
      const asked = server.requests().length;
      session.child.stdin?.write(`${lines.join("\n")}\n`);
      const [text] = await session.waitFor(new RegExp(`(.*\\n){${asked + 1}}`));
      return JSON.parse(text.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
    };
    const documents = [
      await say("one"),
      await say("/model", "/agent", "two"),
      await say("/model openai:b", "three"),
      await say("/agent planner", "four"),
      await say("five"),
    ];
    const id = String(documents[0]?.["session_id"]);
    expect(
      documents.map(({ thread_id, model, persona_name }) => [thread_id, model, persona_name]),
    ).toEqual([
      [`${id}:0`, "openai:a", "assistant"],
      [`${id}:0`, "openai:a", "assistant"],
      [`${id}:1`, "openai:b", "assistant"],
      [`${id}:2`, "openai:b", "planner"],
      [`${id}:2`, "openai:b", "planner"],
    ]);
    expect(server.requests().map((messages) => messages.map(({ content }) => content))).toEqual([
      ["one"],
      ["one", "answer 0", "two"],
      ["three"],
      ["four"],
      ["four", "answer 3", "five"],
    ]);
    session.child.stdin?.end();
    expect((await session.finished).stderr.split("\n")).toEqual([
      "model: openai:a",
      "persona: assistant",
      "The agent has a fresh context (thread 1); the messages are kept.",
      "The agent has a fresh context (thread 2); the messages are kept.",
      "",
    ]);

    // what is refused changes nothing
    for (const [command, code] of [
      ["/model nobody:x", 1],
      ["/model anthropic:x", 1],
      ["/agent nobody", 3],
    ] as const) {
      expect(await home.call(["--session", id], { input: `${command}\n` })).toMatchObject({ code });
    }
    expect((await home.call(["sessions", "show", id])).stdout).toContain(`thread    ${id}:2`);
  });

  it("[CLI-333] /switch lets another model continue the conversation; refused ones change nothing", async () => {
    const server = await startModelServer({
      answer: (_, index) => ({ content: `answer ${index}` }),
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:a" });
    const first = await home.json<{ session_id: string; thread_id: string; model: string }>([
      "-p",
      "one",
      "--json",
    ]);
    const session = ["--session", first.session_id];
    const { code, stderr } = await home.call(session, {
      input: "/switch\n/switch openai:a\n/switch openai:b\ntwo\n",
    });
    expect({ code, lines: stderr.split("\n").slice(1, 4) }).toEqual({
      code: 0,
      lines: [
        "model: openai:a",
        "model: openai:a",
        "The conversation continues with openai:b; its provider reads all of it once more, because the prompt cache begins again.",
      ],
    });
    const refused = await home.call(session, { input: "/switch nobody:x\n" });
    expect(refused).toMatchObject({ code: 1 });
    const last = await home.json<{ thread_id: string; model: string }>([
      ...session,
      "-p",
      "three",
      "--json",
    ]);
    expect([last.thread_id, last.model]).toEqual([first.thread_id, "openai:b"]);
    expect(server.requests().map((messages) => messages.map(({ content }) => content))).toEqual([
      ["one"],
      ["one", "answer 0", "two"],
      ["one", "answer 0", "two", "answer 1", "three"],
    ]);
  });

  it("[CLI-335] [SWITCH-4] a switch to a model with a smaller context warns, and the next exchange summarises first", async () => {
    const server = await startModelServer({
      answer: (_, index) => ({ content: `answer ${index}` }),
    });
    const { REPRISE_CONTEXT_TOKENS: _, ...env } = server.env("openai");
    const home = freshHome({ ...env, REPRISE_MODEL: "openai:large" });
    const config = join(home.home, ".config/reprise/config.jsonc");
    mkdirSync(dirname(config), { recursive: true });
    const contexts = { "openai:large": { context: 200_000 }, "openai:small": { context: 9_000 } };
    writeFileSync(config, JSON.stringify({ models: contexts }), { mode: 0o600 });
    const long = "word ".repeat(4000);
    const { code, stderr } = await home.call([], {
      input: `${long}\n${long}\n${long}\n/switch openai:small\nlast\n`,
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /The conversation has about \d\d,\d{3} tokens, too many for this model's context of 9,000\. The next exchange first summarises/,
    );
    expect(stderr).toContain("Older messages were summarised for the model");
    const sent = server.requests().at(-1) ?? [];
    expect(sent[0]?.content).toContain("<summary>");
    expect(sent.at(-1)?.content).toBe("last");
    expect(server.refused()).toEqual([]);
  });

  it("[CLI-43] /plan turns planning mode on and off; in it nothing that changes anything is permitted", async () => {
    const server = await startModelServer({ answer: () => ({ content: "answer" }) });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const { code, stderr } = await home.call(["--json"], {
      input: "one\n/plan on\ntwo\n/plan off\nthree\n/plan\nfour\n/plan maybe\n",
    });
    expect(code).toBe(2);
    expect(stderr).toContain("Write /plan on or /plan off.");
    const [first, ...others] = server.offeredTools();
    expect(first).toContain("write_file");
    expect(others).toEqual([first, first, first]);
    expect(new Set(server.systemPrompts()).size).toBe(1);
    const written =
      server
        .requests()
        .at(-1)
        ?.filter(({ role }) => role === "user") ?? [];
    expect(written.map(({ content }) => /Planning mode is (on|off)/.exec(content)?.[1])).toEqual([
      undefined,
      "on",
      "off",
      "on",
    ]);
    expect(await sessionsOf(home)).toMatchObject([{ plan_mode: true }]);
  });

  it("[CLI-44] [CLI-151] [CLI-152] /exit leaves the session, /end ends it, /help shows them all", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1"), messages: ["one"] });
    const left = await home.call(["--session", "abcdef"], { input: "/exit\nnever sent\n" });
    expect(left).toMatchObject({ code: 0, stdout: "" });
    expect(left.stderr).toBe(
      `The rest of the input was not sent.\nResume with: reprise --session ${idLike("abcdef1")}\n`,
    );
    expect(await detailOf(home, "abcdef")).toMatchObject({ state: "active", last_seq: 1 });

    const ended = await home.call(["--session", "abcdef"], { input: "/help\n/end\n" });
    expect(ended).toMatchObject({ code: 0, stdout: "" });
    for (const command of ["help", "model", "agent", "clear", "plan", "continue", "end", "exit"]) {
      expect(ended.stderr).toMatch(new RegExp(`^  /${command} `, "m"));
    }
    expect(ended.stderr).toMatch(`\nSession ${idLike("abcdef1")} has ended.\n`);
    expect(ended.stderr).not.toContain("Resume with");
    expect(await detailOf(home, "abcdef")).toMatchObject({ state: "ended", last_seq: 1 });
  });
});
