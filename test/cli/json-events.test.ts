import type { Command } from "commander";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";

import type { CliContext } from "../../src/cli/process/context.ts";
import { createProgram } from "../../src/cli/program.ts";
import { ExchangeEvent } from "../../src/exchange/events.ts";
import { freshHome } from "../helpers/reprise.ts";
import { startScriptedProvider } from "../helpers/scripted-provider.ts";
import { detailOf, idLike, rowsOf, seed } from "../helpers/sessions/seed.ts";
import { openTerminal } from "../helpers/terminal.ts";

const ID = idLike("5841d4");

/** Every command that has `--json`, with the words that call it; the program's own table says which. */
const COMMANDS = jsonCommands(
  // asked for help, the program loads all of its commands
  await createProgram({ args: ["help"], version: "0", consent: {} } as unknown as CliContext),
);

function jsonCommands(command: Command, words: readonly string[] = []): [string, Command][] {
  const own = command.options.some(({ long }) => long === "--json");
  return [
    ...(own ? [[words.join(" "), command] satisfies [string, Command]] : []),
    ...command.commands.flatMap((child) => jsonCommands(child, [...words, child.name()])),
  ];
}

/** The arguments that call a command, with a value for each option that it cannot do without. */
function argsOf(words: string, command: Command): string[] {
  const needed = command.options.filter(({ mandatory }) => mandatory);
  return [
    ...words.split(" ").filter(Boolean),
    ...needed.flatMap(({ long }) => [long ?? "", "value"]),
  ];
}

const WITH_EVENTS = [
  "",
  "resume",
  "sessions resume",
  "sessions answer",
  "send",
  "plan run",
  "plan resume",
  "plan retry",
];
const WITHOUT_EVENTS = COMMANDS.filter(([words]) => !WITH_EVENTS.includes(words));

function events(stdout: string): ExchangeEvent[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => Value.Parse(ExchangeEvent, JSON.parse(line)));
}

describe("--json takes no value", () => {
  it("[EVENT-9] is found in all commands that have it", () => {
    expect(COMMANDS.length).toBeGreaterThan(15);
    expect(COMMANDS.map(([words]) => words)).toEqual(expect.arrayContaining(WITH_EVENTS));
  });

  it.each(COMMANDS)("[EVENT-9] reprise %s --json <word>: the word is an argument", (_, command) => {
    expect(command.parseOptions(["--json", "5841d4"])).toEqual({
      operands: ["5841d4"],
      unknown: [],
    });
    expect(command.getOptionValue("json")).toBe(true);
  });

  it("[EVENT-9] sessions show --json <id> shows the session", async () => {
    const home = freshHome();
    await seed(home, { id: ID });
    expect(await home.json(["sessions", "show", "--json", "5841d4"])).toMatchObject({ id: ID });
  });

  it.each(WITHOUT_EVENTS)("[EVENT-10] reprise %s refuses --json=events", async (words, command) => {
    const args = [...argsOf(words, command), "--json=events"];
    const { code, stdout, stderr } = await freshHome().call(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      code: "invalid_usage",
      detail: "This command reports no events; use --json without a value.",
    });
  });

  it.each(COMMANDS)(
    "[EVENT-17] reprise %s refuses another value and names the allowed one",
    async (words, command) => {
      const args = [...argsOf(words, command), "--json=secret"];
      const { code, stdout, stderr } = await freshHome().call(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("The only value of --json is events: --json=events");
      expect(stderr).not.toContain("secret");
    },
  );

  it("[EVENT-9] the message of -p may be an option's text", async () => {
    const home = freshHome();
    const { code, stdout } = await home.call(["--session", ID, "-p", "--json=events"]);
    expect(code).toBe(0);
    expect(stdout).toContain("[demo]");
    expect(rowsOf(await detailOf(home, ID))[0]).toEqual([1, "user", "--json=events"]);
  });
});

describe("-p --json=events", () => {
  it("[EVENT-8] prints each event as a line, and nothing else", async () => {
    const home = freshHome();
    const args = ["--session", ID, "-p", "hello \u{1f600}", "--json=events"];
    const { code, stdout, stderr } = await home.call(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const told = events(stdout);
    expect([told[0]?.type, told.at(-1)?.type]).toEqual(["started", "done"]);
    expect(stdout.startsWith('{"type":"started","exchange_id":"')).toBe(true);
    const text = told.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("");
    expect(rowsOf(await detailOf(home, ID))[1]).toEqual([2, "assistant", text]);
  });

  it("[EVENT-8] works for sessions resume and lines of input, too", async () => {
    const home = freshHome();
    await seed(home, { id: ID });
    const options = { input: "one\ntwo\n" };
    const { code, stdout } = await home.call(
      ["sessions", "resume", "5841d4", "--json=events"],
      options,
    );
    expect(code).toBe(0);
    expect(events(stdout).filter(({ type }) => type === "done")).toHaveLength(2);
  });

  it("[EVENT-11] ends with failed and the exit code of the failure", async () => {
    await using provider = await startScriptedProvider("openai", () => [
      { kind: "status", status: 401 },
    ]);
    const home = freshHome(provider.env);
    const { code, stdout, stderr } = await home.call([
      "--session",
      ID,
      "-p",
      "hi",
      "--json=events",
    ]);
    expect(code).toBe(1);
    expect(events(stdout).at(-1)).toMatchObject({
      type: "failed",
      session_id: ID,
      code: "model_unauthorized",
      detail: expect.stringContaining("refused the key"),
    });
    expect(JSON.parse(stderr)).toMatchObject({ code: "model_unauthorized", session_id: ID });
  });

  it("[EVENT-12] escapes on a terminal what the terminal would obey", async () => {
    await using provider = await startScriptedProvider("openai", () => [
      { kind: "text", text: "a\u001b[2Jb\u202ec" },
    ]);
    const terminal = openTerminal(freshHome(provider.env), "reprise -p hi --json=events");
    await terminal.shows(/"text":"a\\u001b\[2Jb\\u202ec"/);
    await terminal.finished;
  });
});
