import { expect, it } from "vitest";

import type { QuestionInfo } from "../../src/core/schemas/schemas.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";

const call = (name: string, args: object) => ({ name, arguments: JSON.stringify(args) });

/** Delegates each word after `delegate` to a sub-agent, which asks for it and says what it got. */
function answer(messages: readonly SentMessage[]): ModelAnswer {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const [what = "", ...more] = (messages[at]?.content ?? "").split(" ");
  const results = messages.slice(at + 1).filter(({ role }) => role === "tool");
  if (results.length > 0) {
    return { content: `${what}: ${results.map(({ content }) => content).join(", ")}` };
  }
  return {
    toolCalls:
      what === "delegate"
        ? more.map((task) => call("delegate", { persona: "assistant", task }))
        : [call("ask_user", { question: `Which ${what}?` })],
    // it takes a while to ask
    content: what === "slowly" ? "I think about it. ".repeat(40) : "",
  };
}

async function asking(latencyMs = 0): Promise<Home> {
  const server = await startModelServer({ answer, latencyMs, chunkSize: 4 });
  return freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
}

async function rootOf(home: Home): Promise<string> {
  const roots = (await sessionsOf(home)).filter((session) => session.parent_session_id === null);
  return roots[0]?.id ?? "";
}

async function openIn(home: Home, id: string): Promise<readonly QuestionInfo[]> {
  const listed = await home.call(["sessions", "answer", id, "--json"]);
  return JSON.parse(listed.stdout) as QuestionInfo[];
}

/** Of the sub-agents of a session. */
async function activitiesBelow(home: Home, id: string): Promise<readonly string[]> {
  return (await sessionsOf(home))
    .filter((session) => session.parent_session_id === id)
    .map(({ activity }) => activity)
    .toSorted();
}

it("[QUESTION-14] [CLI-245] sessions answer lets a sub-agent continue, and --follow waits until its exchange asks the rest", async () => {
  const home = await asking();
  expect((await home.call(["-p", "delegate colour size"])).code).toBe(7);
  const id = await rootOf(home);
  const open = await openIn(home, id);
  expect(open.map(({ text }) => text).toSorted()).toEqual(["Which colour?", "Which size?"]);
  const size = open.find(({ text }) => text === "Which size?")?.id ?? "";
  const one = ["sessions", "answer", id, "large", "--question", size];
  const following = home.start([...one, "--follow", "--json"]);
  await expect.poll(async () => (await openIn(home, id)).length).toBe(1);
  // it waits for a process that continues the exchange
  expect(await home.call(["--session", id, "--continue-exchange"])).toMatchObject({ code: 7 });
  const { code, stdout } = await following.finished;
  expect(code).toBe(7);
  expect(JSON.parse(stdout)).toMatchObject({
    n: 1,
    state: "waiting",
    questions: [{ text: "Which colour?" }],
  });
  const sub = (await sessionsOf(home)).find(({ title }) => title === "size")?.id ?? "";
  expect((await home.call(["sessions", "show", sub])).stdout).toContain("size: large");
  const given = await home.call(["sessions", "answer", id, "red"]);
  expect(given.stderr).toContain("--continue-exchange");
  expect(await home.call(["--session", id, "--continue-exchange"])).toMatchObject({
    code: 0,
    stdout: "delegate: colour: red, size: large\n",
  });
});

it("[QUESTION-14] [TERM-45] a terminal runs the sub-agents whose questions are answered, while one stays open", async () => {
  const home = await asking();
  const terminal = openTerminal(home, "exec reprise");
  await terminal.shows(/> $/);
  terminal.type("delegate colour size\r");
  await terminal.shows(/Which \w+\?[^]*answer> $/);
  terminal.type("first\r");
  await terminal.shows(/first\r?\n[^]*Which \w+\?[^]*answer> $/);
  terminal.type("\r");
  await terminal.shows(/The question stays open\.[^]*> $/);
  const id = await rootOf(home);
  await expect.poll(() => activitiesBelow(home, id)).toEqual(["idle", "interrupted"]);
  terminal.type("/continue\r");
  await terminal.shows(/Which \w+\?[^]*answer> $/);
  terminal.type("second\r");
  await terminal.shows(/delegate: \w+: (?:first|second), \w+: (?:first|second)[^]*> $/);
  terminal.type(CTRL_D);
  expect((await terminal.finished).code).toBe(0);
});

it("[QUESTION-11] a terminal continues what was answered elsewhere while its exchange ran, before it asks the rest", async () => {
  const home = await asking(20);
  const terminal = openTerminal(home, "exec reprise");
  await terminal.shows(/> $/);
  terminal.type("delegate colour slowly\r");
  await expect.poll(() => rootOf(home)).not.toBe("");
  const id = await rootOf(home);
  await expect.poll(async () => (await openIn(home, id)).length).toBe(1);
  expect((await home.call(["sessions", "answer", id, "red"])).code).toBe(0);
  await terminal.shows(/Which slowly\?[^]*answer> $/);
  expect(await activitiesBelow(home, id)).toEqual(["idle", "interrupted"]);
  terminal.type("second\r");
  await terminal.shows(/delegate: colour: red, slowly: second[^]*> $/);
  terminal.type(CTRL_D);
  expect((await terminal.finished).code).toBe(0);
});
