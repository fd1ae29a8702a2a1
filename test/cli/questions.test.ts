import { expect, it, vi } from "vitest";

import type { QuestionInfo } from "../../src/core/schemas/schemas.ts";
import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";

const ID = idLike("abcdef1");
const HOSTILE = "\u001b[31mWhich colour?\u001b]0;x\u0007\n  1. green\n  Effect: none";

const OTHER_CHOICES: Readonly<Record<string, readonly string[]>> = {
  "ask freely": [],
  "ask numbers": ["no", "1"],
};

/** An agent that asks for a colour, and says what it got. */
async function asking(usual: readonly string[] = ["red", "green"]): Promise<Home> {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const last = messages.at(-1);
      const choices = OTHER_CHOICES[last?.content ?? ""] ?? usual;
      const question = JSON.stringify(
        choices.length === 0 ? { question: HOSTILE } : { question: HOSTILE, choices },
      );
      return last?.role === "user" && last.content.startsWith("ask")
        ? { toolCalls: [{ name: "ask_user", arguments: question }] }
        : { content: `it is ${last?.content}` };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  await seed(home, { id: ID });
  return home;
}

it("[CLI-186] [CLI-187] [CLI-192] [QUESTION-36] [TERM-62] -p ends with exit code 7 and the command that answers, which continues nothing by itself", async () => {
  const home = await asking();
  const asked = await home.call(["--session", ID, "-p", "ask"]);
  expect(asked).toMatchObject({ code: 7, stdout: "" });
  expect(asked.stderr).toContain("Which colour?");
  expect(asked.stderr).toContain("  1. red\n  2. green\n");
  expect(asked.stderr).toContain(`Answer with: reprise sessions answer ${ID} ANSWER\n`);
  expect(asked.stderr).not.toContain("\u001b");
  expect(asked.stderr).toContain("  |   1. green\n  |   Effect: none\n  1. red\n");

  const listed = await home.call(["sessions", "answer", ID, "--json"]);
  const [question] = JSON.parse(listed.stdout) as QuestionInfo[];
  expect(question).toMatchObject({
    session_id: ID,
    choices: [
      { id: "1", label: "red" },
      { id: "2", label: "green" },
    ],
    path: [ID],
  });
  expect((await home.call(["sessions", "answer", ID])).stdout).toContain("Which colour?");
  const shown = await home.call(["sessions", "show", ID]);
  expect(shown.stdout).toMatch(new RegExp(`^  question  ${question?.id} .*Which colour`, "m"));
  const [inTerminal, inPipe] = await Promise.all([
    home.call(["sessions", "list"], { terminal: true }),
    home.call(["sessions", "list"]),
  ]);
  expect(inTerminal.stdout).toMatch(/^abcdef10 .* waiting /m);
  expect(inPipe.stdout).toMatch(/^abcdef10 +interrupted /m);
  expect((await home.call(["doctor"])).stdout).toContain("waits for the answer of a person");
  expect(await home.call(["sessions", "answer", ID, "blue"])).toMatchObject({ code: 2 });
  const answered = await home.call(["sessions", "answer", ID.slice(0, 8), "1"]);
  expect(answered).toMatchObject({
    code: 0,
    stdout: `Answered: question ${question?.id} of ${ID}\n`,
    stderr: expect.stringMatching(
      new RegExp(
        `Start one with: reprise serve\nOr continue it here: .* --session ${ID} --continue-exchange\n`,
      ),
    ) as string,
  });
  const id = question?.id.slice(0, 8) ?? "";
  expect(await home.call(["sessions", "answer", ID, "green"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the first answer counts") as string,
  });
  const long = "x".repeat(20_001);
  expect(await home.call(["sessions", "answer", ID, "red", "--note", long])).toMatchObject({
    code: 2,
  });
  const again = await home.call([
    "sessions",
    "answer",
    ID,
    "green",
    "--question",
    question?.id ?? id,
  ]);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("question_answered");
  expect((await home.call(["--session", ID, "--continue-exchange"])).stdout).toBe("it is red\n");
});

it("[CLI-188] piped lines end with exit code 7, and the rest is not sent", async () => {
  const home = await asking();
  const piped = home.start(["--session", ID], { input: "ask\nmore\n" });
  const ended = await piped.finished;
  expect(ended.code).toBe(7);
  expect(ended.stderr).toContain("The rest of the input was not sent.");
  const json = await home.call(["--session", ID, "-p", "ask again", "--json"]);
  expect(json.code).toBe(7);
  expect(JSON.parse(json.stdout)).toMatchObject({
    answer: "",
    questions: [{ text: expect.stringContaining("Which colour?") as string, path: [ID] }],
  });
});

it("[CLI-189] [CLI-190] [QUESTION-42] a terminal asks, and continues with the answer or leaves the question open", async () => {
  const home = await asking();
  const terminal = openTerminal(home, `reprise --session ${ID}`);
  await terminal.shows(/> $/);
  terminal.type("ask\r");
  await terminal.shows(/Which colour\?[^]*1\. red[^]*2\. green[^]*answer> $/);
  terminal.type("blue\r");
  await terminal.shows(/one of the choices[^]*answer> $/);
  terminal.type("\r");
  await terminal.shows(/stays open[^]*> $/);
  terminal.type("/continue\r");
  await terminal.shows(/answer> $/);
  terminal.type("2\r");
  await terminal.shows(/it is green[^]*> $/);
  terminal.type("ask\r");
  await terminal.shows(/answer> $/);
  expect((await home.call(["sessions", "answer", ID, "red"])).code).toBe(0);
  await terminal.shows(/Answered elsewhere: red\n[^]*it is red[^]*> $/);
  terminal.type("ask\r");
  await terminal.shows(/answer> $/);
  terminal.type("\r");
  await terminal.shows(/stays open[^]*> $/);
  terminal.type("something else\r");
  await terminal.shows(/it is something else[^]*1 open question withdrawn\.[^]*> $/);
  expect((await home.call(["sessions", "answer", ID])).stdout).toBe("No question is open.\n");
  for (const [command, confirmation] of [
    ["/agent assistant", ""],
    ["/clear", "y\r"],
  ] as const) {
    terminal.type("ask\r");
    await terminal.shows(/answer> $/);
    terminal.type("\r");
    await terminal.shows(/stays open[^]*> $/);
    terminal.type(`${command}\r`);
    if (confirmation !== "") {
      await terminal.shows(/y\/N $/);
      terminal.type(confirmation);
    }
    await terminal.shows(/fresh context[^]*1 open question withdrawn\.[^]*> $/);
  }
  terminal.type(CTRL_D);
  expect((await terminal.finished).code).toBe(0);
});

it("[QUESTION-35] [QUESTION-36] [QUESTION-37] a terminal takes only what a person means as the answer", async () => {
  const home = await asking();
  const terminal = openTerminal(home, `reprise --session ${ID}`);
  await terminal.shows(/> $/);
  terminal.type("ask freely\rtoo early\r");
  await terminal.shows(/1 line typed before the question dropped, not sent[^]*answer> $/);
  terminal.type("\u001b[200~a pasted colour\u001b[201~");
  terminal.type("\r");
  await terminal.shows(/it is a pasted colour[^]*> $/);
  terminal.type("ask numbers\r");
  await terminal.shows(/answer> $/);
  terminal.type("1\r");
  await terminal.shows(/one of the choices[^]*answer> $/);
  terminal.type("1.\r");
  await terminal.shows(/it is no[^]*> $/);
  terminal.type("ask freely\r");
  await terminal.shows(/answer> $/);
  // another process answers, while an answer is typed
  terminal.type("gre");
  await terminal.shows(/gre$/);
  expect((await home.call(["sessions", "answer", ID, "blue"])).code).toBe(0);
  await terminal.shows(/Answered elsewhere: blue\n[^]*it is blue[^]*> $/);
  terminal.type("ask freely\r");
  await terminal.shows(/answer> $/);
  terminal.type("/exit\r");
  expect((await terminal.finished).screen).toMatch(/stays open/);
  expect((await home.call(["sessions", "answer", ID])).stdout).toContain("Which colour?");
});

it("[CLI-191] with --answer-after, a choice is made for who does not answer, by -p itself", async () => {
  const home = await asking(["allow", "deny"]);
  const answer = ["--session", ID, "-p", "ask", "--answer-after"];
  expect(await home.call([...answer, "1s=2"])).toMatchObject({
    code: 0,
    stdout: "it is deny\n",
  });
  // a question that does not offer the choice waits for a person, whatever the model calls it
  for (const other of ["1s=deny", "1s=3"]) {
    expect(await home.call([...answer, other]), other).toMatchObject({ code: 7 });
  }
  for (const wrong of ["deny", "1h=", "0h=deny", "1x=deny", "-1h=deny", "1h=allow once", "1h=21"]) {
    expect(await home.call([...answer, wrong]), wrong).toMatchObject({ code: 2 });
  }
});

it("[CLI-201] [QUESTION-42] send shows what its message waits for, and does not wait for a person", async () => {
  const home = await asking();
  expect((await home.call(["--session", ID, "-p", "ask"])).code).toBe(7);
  const shown = `  1. red\n  2. green\nAnswer with: `;
  const queued = await home.call(["send", ID, "more"]);
  expect(queued).toMatchObject({ code: 0, stdout: `Queued: exchange 2 of ${ID}\n` });
  expect(queued.stderr).toContain(shown);
  const followed = await home.call(["send", ID, "more", "--follow"]);
  expect(followed.code).toBe(7);
  expect(followed.stderr).toContain(shown);
  const json = await home.call(["send", ID, "more", "--follow", "--json"]);
  expect(json.code).toBe(7);
  expect(JSON.parse(json.stdout)).toMatchObject({
    n: 4,
    state: "queued",
    questions: [{ choices: [{ label: "red" }, { label: "green" }] }],
  });
  const superseding = await home.call(["send", ID, "instead", "--supersede"]);
  expect(superseding.stderr).not.toContain(shown);
  expect(superseding.stderr).toContain("1 open question withdrawn.\n");
  expect((await home.call(["sessions", "answer", ID])).stdout).toBe("No question is open.\n");
});

it("[CLI-245] sessions answer --follow waits for the exchange that its answer continues, with --json=events as send does", async () => {
  const home = await asking();
  for (const wrong of [["red", "--json=events"], ["--follow"]]) {
    expect(await home.call(["sessions", "answer", ID, ...wrong])).toMatchObject({ code: 2 });
  }
  for (const [option, shown] of [
    ["--json=events", /"type":"text"[^\n]*it is green[^]*"type":"done"[^\n]*\n$/],
    ["--json", /^\{"session_id"[^\n]*"state":"done"[^\n]*\n$/],
    [null, /^it is green\n$/],
  ] as const) {
    expect((await home.call(["--session", ID, "-p", "ask"])).code).toBe(7);
    const following = home.start([
      "sessions",
      "answer",
      ID,
      "2",
      "--follow",
      ...(option === null ? [] : [option]),
    ]);
    // once it is answered, any process continues it
    await vi.waitFor(
      async () => {
        const { stdout } = await home.call(["--session", ID, "--continue-exchange"]);
        expect(stdout).toBe("it is green\n");
      },
      { timeout: 240_000, interval: 50 },
    );
    const { code, stdout } = await following.finished;
    expect(code).toBe(0);
    expect(stdout).toMatch(shown);
  }
});
