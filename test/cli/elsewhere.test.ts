import { describe, expect, it, onTestFinished } from "vitest";

import { createDatabase } from "../helpers/database.ts";
import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { startScriptedProvider } from "../helpers/scripted-provider.ts";
import { detailOf, idLike, rowsOf } from "../helpers/sessions/seed.ts";
import { CTRL_C, CTRL_D, openTerminal, type Terminal } from "../helpers/terminal.ts";

const ID = idLike("abcdef1");

/** A session with one exchange; the answer to the second message stops in its middle until it is released. */
async function openWorld(): Promise<{ home: Home; release: () => void }> {
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const { promise, resolve } = Promise.withResolvers<void>();
  const provider = await startScriptedProvider("openai", (index) =>
    index === 1
      ? [
          { kind: "text", text: "w0 \u001b[2Jw1 " },
          { kind: "wait", until: promise },
          { kind: "text", text: "and the rest" },
        ]
      : [{ kind: "text", text: `answer ${index}` }],
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_DATABASE: database.location });
  expect((await home.call(["--session", ID, "-p", "hi"])).code).toBe(0);
  return { home, release: () => resolve() };
}

describe("an exchange of another process", () => {
  it("[CLI-240] [CLI-241] is shown in a terminal that has the session open, and what was typed is kept", async () => {
    const { home, release } = await openWorld();
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    terminal.type("a draft");
    await terminal.shows(/a draft$/);
    const running = home.start(["--session", ID, "-p", "the question"]);
    await terminal.shows(
      /Another process runs an exchange[^]*· exchange 2 running\n[^]*#3 user {2}\S+\n {2}the question\n[^]*assistant\n {2}w0 ␛\[2Jw1/,
    );
    release();
    await terminal.shows(/and the rest\n(?:· [^\n]* so far\n)?· exchange 2 done[^\n]*\n> a draft$/);
    expect((await running.finished).code).toBe(0);
    // one that is over at once is shown too
    expect((await home.call(["--session", ID, "-p", "a short one"])).code).toBe(0);
    await terminal.shows(/a short one\n[^]*answer 2\n· exchange 3 done[^\n]*\n> a draft$/);
    terminal.type(" sent\r");
    await terminal.shows(/answer 3\n> $/);
    const rows = rowsOf(await detailOf(home, ID));
    expect(rows.at(-2)).toEqual([7, "user", "a draft sent"]);
    terminal.type(CTRL_D);
    expect((await terminal.finished).code).toBe(0);
  });

  it("[CLI-242] is left with Ctrl-C, and stopped with /stop", async () => {
    const { home } = await openWorld();
    const running = home.start(["--session", ID, "-p", "the question"]);
    await running.waitFor(/w0/);
    // opened while it runs: all of the exchange is shown
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/exchange 2 running\n[^]*the question\n[^]*w1/);
    terminal.type(CTRL_C);
    await terminal.shows(/The exchange continues; \/stop stops it\.\n> $/);
    terminal.type("/stop\r");
    await terminal.shows(/Stopping: exchange 2\n/);
    const { code, stderr } = await running.finished;
    expect(code).toBe(1);
    expect(stderr).toContain("Stopped. The part above is kept.");
    terminal.type("/stop\r");
    await terminal.shows(/No exchange is queued or running[^\n]*\n> $/);
    terminal.type(CTRL_D);
    expect((await terminal.finished).code).toBe(0);
  });
});

/** Two terminals that ask the same question; the model then says what the answer was. */
async function openAsking(): Promise<{ home: Home; one: Terminal; other: Terminal }> {
  const question = JSON.stringify({ question: "Which?", choices: ["red", "green"] });
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const last = messages.at(-1);
      return last?.content === "ask"
        ? { toolCalls: [{ name: "ask_user", arguments: question }] }
        : { content: `it is ${last?.content}` };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  expect((await home.call(["--session", ID, "-p", "hi"])).code).toBe(0);
  const one = openTerminal(home, `reprise --session ${ID}`);
  const other = openTerminal(home, `exec reprise --session ${ID}`);
  await one.shows(/> $/);
  await other.shows(/> $/);
  expect((await home.call(["--session", ID, "-p", "ask"])).code).toBe(7);
  await one.shows(/Which\?[^]*answer> $/);
  await other.shows(/Which\?[^]*answer> $/);
  return { home, one, other };
}

it("[CLI-243] [CLI-244] its questions are answered in any terminal, and go away in the others", async () => {
  const { home, one, other } = await openAsking();
  one.type("2\r");
  await one.shows(/it is green[^]*> $/);
  await other.shows(/Answered elsewhere: green\n[^]*it is green[^]*> $/);
  const rows = rowsOf(await detailOf(home, ID));
  expect(rows.filter(([, , content]) => content === "it is green")).toHaveLength(1);
  for (const terminal of [one, other]) {
    terminal.type(CTRL_D);
    expect((await terminal.finished).code).toBe(0);
  }
});

it("[CLI-280] what followed the answer is shown, also if it was over before the terminal noticed", async () => {
  const { one, other } = await openAsking();
  other.kill("SIGSTOP");
  one.type("2\r");
  await one.shows(/it is green[^]*> $/);
  other.kill("SIGCONT");
  // it may have read the question last before the answer or after it
  const [shown] = await other.shows(
    /(Answered elsewhere: green|needs no answer)[^]*exchange 2 done[^\n]*\n> $/,
  );
  expect(shown).toMatch(/a tool returned: green\n\n#6 assistant {2}\S+\n {2}it is green\n/);
  // what was shown before is not shown again
  expect(shown).not.toMatch(/#[1-5] /);
  other.type(CTRL_D);
  expect((await other.finished).code).toBe(0);
});
