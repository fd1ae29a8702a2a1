import { describe, expect, it, onTestFinished } from "vitest";

import type { LiveEvent } from "../../../../src/core/schemas/live.ts";
import { readPosition } from "../../../../src/core/live/live-position.ts";
import { createDatabase } from "../../../helpers/database.ts";
import { type SentMessage, startModelServer } from "../../../helpers/model-server.ts";
import type { Running } from "../../../helpers/process.ts";
import { freshHome, type Home } from "../../../helpers/reprise.ts";
import { startScriptedProvider, type Step } from "../../../helpers/scripted-provider.ts";
import { idLike, seed } from "../../../helpers/sessions/seed.ts";
import { CTRL_C, openTerminal } from "../../../helpers/terminal.ts";

const ID = idLike("abcdef1");
const HOSTILE = "w0 w1 \u001b[2J\u202e\n#9 user  forged\r\n";

interface World {
  readonly home: Home;
  /** Lets the second answer continue. */
  readonly release: () => void;
  /** Starts the exchange with the second answer, and waits until a part of it has arrived. */
  readonly startAnswer: () => Promise<Running>;
}

const text = (content: string): Step => ({ kind: "text", text: content });

/** A session with one exchange; the answer of the second one stops in its middle until it is released. */
async function openWorld(): Promise<World> {
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const { promise, resolve } = Promise.withResolvers<void>();
  const answers: readonly (readonly Step[])[] = [
    [text("a first answer")],
    [text(HOSTILE), { kind: "wait", until: promise }, text("and the rest 👩‍👩‍👧")],
    [text("a third answer")],
  ];
  const provider = await startScriptedProvider("openai", (index) => [
    ...(answers[Math.min(index, answers.length - 1)] ?? []),
  ]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_DATABASE: database.location });
  expect((await home.call(["--session", ID, "-p", "hi"])).code).toBe(0);
  const startAnswer = async (): Promise<Running> => {
    const running = home.start(["--session", ID, "-p", "the question", "--json=events"]);
    await running.waitFor(/"type":"text"/);
    return running;
  };
  return { home, release: () => resolve(), startAnswer };
}

function eventsOf(stdout: string): LiveEvent[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const event = JSON.parse(line) as LiveEvent;
      expect(Object.keys(event)).toEqual(["id", "event", "data"]);
      expect(readPosition(event.id)).not.toBeNull();
      return event;
    });
}

describe("reprise follow", () => {
  it("[CLI-230] [CLI-231] [CLI-232] [TERM-65] a terminal shows the last messages and the answer of another process while it is written", async () => {
    const { home, release, startAnswer } = await openWorld();
    const running = await startAnswer();
    const terminal = openTerminal(home, "reprise follow abcdef --tail 3");
    await terminal.shows(
      /Session abcdef1\S+ · hi · Ctrl-C[^]*\n#1 user {2}[\d-]{10} \d\d:\d\d:\d\d\n {2}hi\n\n#2 assistant {2}\S+ \S+\n {2}a first answer\n\n#3 user {2}\S+ \S+\n {2}the question\n· exchange 2 running/,
    );
    await terminal.shows(/\nassistant\n {2}w0 w1 ␛\[2J<U\+202E>\n {2}#9 user {2}forged/);
    release();
    await terminal.shows(
      / {2}and the rest 👩‍👩‍👧\n(?:· [^\n]* so far\n)?· exchange 2 done, \d+ tokens in, \d+ out/,
    );
    expect((await running.finished).code).toBe(0);
    expect((await home.call(["--session", ID, "-p", "again"])).code).toBe(0);
    await terminal.shows(/#5 user [^]*a third answer\n[^]*exchange 3 done/);
    terminal.type(CTRL_C);
    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(terminal.written()).not.toContain("\u001b");
    expect(terminal.written()).not.toContain("\u202e");
  });

  it("[CLI-233] [LIVE-60] with --json=events each event of the live feed is a line; a process that is killed is noticed", async () => {
    const { home, startAnswer } = await openWorld();
    const running = await startAnswer();
    const following = home.start(["follow", ID, "--json=events", "--tail", "1"]);
    await following.waitFor(/"event":"(snapshot|text)"[^\n]*w0 w1[^]*\n/);
    await running.stop("SIGKILL");
    await following.waitFor(/"state":"interrupted"[^\n]*\n/);
    const next = await home.call(["--session", ID, "-p", "again"]);
    expect(next.stdout).toContain("a third answer");
    await following.waitFor(/"event":"exchange"[^\n]*"n":3,[^\n]*"state":"done"[^\n]*\n/);
    const { code, stdout, stderr } = await following.stop("SIGINT");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const events = eventsOf(stdout);
    expect(events[0]).toMatchObject({ event: "snapshot", data: { exchange: { n: 2 } } });
    const kinds = events.map(({ event }) => event);
    expect(kinds.indexOf("reset")).toBeGreaterThan(0);
    const messages = events.flatMap(({ event, data }) => (event === "message" ? [data] : []));
    expect(messages.map(({ seq, role }) => `${seq} ${role}`)).toEqual([
      "3 user",
      "4 user",
      "5 assistant",
    ]);
  });

  it("[CLI-234] it ends with the session, and says if the session was deleted or does not exist", async () => {
    const { home, release } = await openWorld();
    release();
    const ended = home.start(["follow", ID]);
    await ended.waitFor(/exchange 1 done/);
    expect((await home.call(["sessions", "end", ID])).code).toBe(0);
    expect(await ended.finished).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(new RegExp(`Session ${ID} has ended\\.\n$`)) as string,
    });
    const again = await home.call(["follow", ID, "--tail", "0"]);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^· exchange 1 done, \d+ tokens in, \d+ out\n$/) as string,
    });

    const other = idLike("bbbbbb1");
    await home.call(["--session", other, "-p", "hi"]);
    const deleted = home.start(["follow", other, "--json=events"]);
    await deleted.waitFor(/"event":"message"[^\n]*"seq":2/);
    expect((await home.call(["sessions", "delete", other, "--yes"])).code).toBe(0);
    const { code, stderr } = await deleted.finished;
    expect(code).toBe(3);
    expect(JSON.parse(stderr)).toEqual({
      code: "session_not_found",
      detail: "The session was deleted.",
    });
    expect(await home.call(["follow", other])).toMatchObject({ code: 3, stdout: "" });
  });
});

it("[CLI-235] a pipe gets messages as lines once they are stored, and no text that may become void", async () => {
  const { home, startAnswer } = await openWorld();
  const running = await startAnswer();
  const following = home.start(["follow", ID]);
  await following.waitFor(/exchange 2 running/);
  await running.stop("SIGKILL");
  await following.waitFor(/exchange 2 interrupted/);
  await home.call(["--session", ID, "-p", "again"]);
  await following.waitFor(/a third answer\n[^]*exchange 3 done/);
  const { stdout } = await following.stop("SIGTERM");
  expect(stdout).not.toContain("w0 w1");
  expect(stdout).toMatch(/#5 assistant {2}\S+\n {2}a third answer\n/);
});

it("[CLI-237] it shows tool calls, what they return, and questions until they are answered", async () => {
  const question = JSON.stringify({
    question: "Which\u001b[2J\nEffect?",
    choices: ["red", "green"],
  });
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const last = messages.at(-1);
      return last?.role === "user" && last.content === "ask"
        ? { toolCalls: [{ name: "ask_user", arguments: question }] }
        : last?.role === "user"
          ? { toolCalls: [{ name: "list_files", arguments: "{}" }] }
          : { content: `it is ${last?.content}` };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  await seed(home, { id: ID });
  const terminal = openTerminal(home, `reprise follow ${ID}`);
  await terminal.shows(/Ctrl-C ends this command\./);
  await home.call(["--session", ID, "-p", "list", "--repo", home.project]);
  // in any order: the snapshot with which the feed begins may have the end of the exchange already
  await terminal.shows(
    /(?=[^]*exchange 1 done)[^]*· list_files \.\n[^]*· list_files returned: [^\n]+\n[^]*it is /,
  );
  expect((await home.call(["--session", ID, "-p", "ask"])).code).toBe(7);
  await terminal.shows(
    /The agent asks:\n {2}Which␛\[2J\n {2}\| Effect\?\n {2}1\. red\n {2}2\. green\nAnswer with: [^\n]*sessions answer abcdef1\S+ ANSWER/,
  );
  expect((await home.call(["sessions", "answer", ID, "2"])).code).toBe(0);
  await terminal.shows(/Question [0-9a-f]{8} is answered: green/);
  await home.call(["--session", ID, "--continue-exchange"]);
  await terminal.shows(/it is green\n[^]*exchange 2 done/);
  terminal.type(CTRL_C);
  expect(await terminal.finished).toMatchObject({ code: 0 });
  expect(terminal.written()).not.toContain("\u001b");
});

it("[CLI-236] options out of range are refused", async () => {
  const home = freshHome();
  for (const tail of ["-1", "x", "1001"]) {
    expect(await home.call(["follow", ID, `--tail=${tail}`]), tail).toMatchObject({ code: 2 });
  }
});
