import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";

import type { Command, Option } from "commander";

import { outputTo } from "../src/cli/process/output.ts";
import { createProgram } from "../src/cli/program.ts";

/** The page, in the source of `man(7)`. Its date is that of the form of the page. */
const DATE = "2026-11-23";

const MAX_LINE = 77;

const EXIT_CODES: readonly (readonly [string, string])[] = [
  ["0", "done"],
  ["1", "failed"],
  ["2", "wrong usage or configuration"],
  ["3", "not found: the session, the persona, the schema"],
  ["4", "the id is ambiguous"],
  ["5", "the session has ended"],
  ["6", "another exchange is running in the session"],
  ["7", "the exchange waits for the answer to a question"],
];

const FILES: readonly (readonly [string, string])[] = [
  ["~/.local/share/reprise/reprise.db", "the database, unless an option or a variable names one"],
  ["~/.config/reprise/config.jsonc", "your settings"],
  ["~/.config/reprise/personas/", "your personas"],
  ["~/.local/state/reprise/", "trusted folders, and what undo keeps"],
];

/** `reprise(1)`: every command with its arguments and options, from their definitions. */
export async function manualPage(root: string): Promise<string> {
  const program = await definitions(root);
  const commands = program.commands.filter((command) => command.name() !== "complete");
  return [
    `.TH REPRISE 1 ${DATE} "reprise ${program.version() ?? ""}"`,
    ".SH NAME",
    `reprise \\- ${escaped(firstSmall(program.description()))}`,
    ".SH SYNOPSIS",
    ".B reprise",
    "[options]",
    ".br",
    ".B reprise",
    ".I command",
    "[options]",
    ".SH DESCRIPTION",
    "Without a command, a conversation with an agent begins, or continues with",
    '.BR \\-\\-continue " or " \\-\\-session .',
    "With",
    ".B \\-p",
    "one message is sent, and its answer printed.",
    ".SH OPTIONS",
    ...optionsOf(program),
    ".SH COMMANDS",
    ...commands.flatMap((command) => section(command)),
    ".SH EXIT STATUS",
    ...pairs(EXIT_CODES),
    ".SH FILES",
    ...pairs(FILES),
    "",
  ].join("\n");
}

/** All commands; none of them is run. */
export function definitions(root: string): Promise<Command> {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const notRun = (): never => {
    throw new Error("The manual page runs no command.");
  };
  const output = outputTo(process.stdout, { onUnread: notRun, onUnwritable: notRun });
  return createProgram({
    version,
    args: ["help"],
    program: { node: "node", script: "reprise" },
    cwd: root,
    env: {},
    stdin: Readable.from([]),
    stdout: output,
    stderr: output,
    signals: { on: notRun, off: notRun },
    held: [],
    suspend: notRun,
    pid: 0,
    parentPid: notRun,
    exit: notRun,
    openStore: notRun,
    openExchanger: notRun,
    copyLangGraph: notRun,
    tryModel: notRun,
    openAgent: notRun,
    consent: { forThisRun: "none", named: null },
    exitCode: 0,
  });
}

/** A command, or each of a group. */
function section(command: Command): string[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap(section);
  }
  return [
    `.SS ${escaped(usageOf(command))}`,
    ...sentence(command.description()),
    ...command.registeredArguments.flatMap((argument) =>
      argument.description === "" ? [] : entry(argument.name(), argument.description),
    ),
    ...optionsOf(command),
  ];
}

/** The words of a command with its arguments: `reprise sessions show <id>`. */
export function usageOf(command: Command): string {
  const usage = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [...namesOf(command), ...usage].join(" ");
}

/** The words that call a command: `reprise`, `sessions`, `show`. */
export function namesOf(command: Command): string[] {
  return [...(command.parent === null ? [] : namesOf(command.parent)), command.name()];
}

function optionsOf(command: Command): string[] {
  return command.options
    .filter(({ hidden }) => !hidden)
    .flatMap((option) => entry(option.flags, described(option)));
}

export function described({ description, argChoices }: Option): string {
  return argChoices === undefined ? description : `${description} (${argChoices.join(", ")})`;
}

function pairs(list: readonly (readonly [string, string])[]): string[] {
  return list.flatMap(([name, about]) => entry(name, about));
}

function entry(name: string, about: string): string[] {
  return [".TP", `.B ${escaped(name)}`, ...sentence(about)];
}

/** In lines of at most 78 characters. No line begins with what would be a request. */
function sentence(text: string): string[] {
  const lines: string[] = [];
  for (const word of escaped(text).split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + word.length > MAX_LINE) {
      lines.push(word.replace(/^[.']/, "\\&$&"));
    } else {
      lines[lines.length - 1] = `${line} ${word}`;
    }
  }
  return lines;
}

/** Plain text as roff reads it: ASCII, with minus signs that can be copied. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/\s+/g, " ")
    .replace(
      /[^\x20-\x7e]/gu,
      (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

function firstSmall(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, "")}`;
}
