import type { MessageInfo } from "../../src/entries/client.ts";

export type ToolCall = NonNullable<MessageInfo["tool_calls"]>[number];

/** How a call ended; `unknown`: there is no result. */
export type CallEnd = "success" | "error" | "unknown";

const READING: ReadonlySet<string> = new Set([
  "read_file",
  "list_files",
  "find_files",
  "search_files",
]);
const WRITING: ReadonlySet<string> = new Set([
  "write_file",
  "edit_file",
  "multi_edit",
  "apply_patch",
]);
const MAX_SUBJECT = 1000;

/** True for a call that only reads files. */
export function isReading({ name }: Pick<ToolCall, "name">): boolean {
  return READING.has(name);
}

/** What a call is about, in one line: a command, paths of files, a question, or its arguments. */
export function subjectOf({ name, args }: Pick<ToolCall, "name" | "args">): string {
  return (mainArgument(name, args) ?? JSON.stringify(args) ?? "")
    .slice(0, MAX_SUBJECT)
    .replace(/\s+/gu, " ")
    .trim();
}

function mainArgument(name: string, args: unknown): string | null {
  const path = textOf(args, "path");
  switch (name) {
    case "read_file":
      return path;
    case "list_files":
      return path ?? ".";
    case "find_files":
      return inFolder(textOf(args, "pattern"), path);
    case "search_files":
      return inFolder(textOf(args, "text"), path);
    case "run_command":
      return commandOf(args);
    case "ask_user":
      return textOf(args, "question");
    case "delegate": {
      const [persona, task] = [textOf(args, "persona"), textOf(args, "task")];
      return task === null || persona === null ? task : `${persona}: ${task}`;
    }
    default: {
      const paths = pathsOf({ name, args });
      return paths.length === 0 ? null : paths.join(", ");
    }
  }
}

function inFolder(wanted: string | null, folder: string | null): string | null {
  return wanted === null || folder === null || folder === "." ? wanted : `${wanted} in ${folder}`;
}

/** The line of a command, or its words so that one sees where each ends; null for other arguments. */
function commandOf(args: unknown): string | null {
  const argv = fieldOf(args, "argv");
  return (
    textOf(args, "line") ??
    (Array.isArray(argv)
      ? argv
          .map(String)
          .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
          .join(" ")
      : null)
  );
}

/** The files that a call writes; none for other calls. */
export function pathsOf({ name, args }: Pick<ToolCall, "name" | "args">): string[] {
  if (!WRITING.has(name)) {
    return [];
  }
  const [patch, edits] = [textOf(args, "patch"), fieldOf(args, "edits")];
  const paths = Array.isArray(edits)
    ? edits.map((edit) => textOf(edit, "path"))
    : patch === null
      ? [textOf(args, "path")]
      : [...patch.matchAll(/^\*\*\* (?:Update File|Add File|Delete File|Move to): *(.*)$/gm)].map(
          ([, path = ""]) => path.trim(),
        );
  return [...new Set(paths.filter((path) => path !== null))];
}

/** Arguments for a person: texts of several lines as lines, not as JSON. */
export function argumentsText(args: unknown): string {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return JSON.stringify(args, null, 2) ?? "";
  }
  return Object.entries(args)
    .map(([name, value]: [string, unknown]) =>
      typeof value === "string"
        ? `${name}: ${value.includes("\n") ? `\n${value}` : value}`
        : `${name}: ${JSON.stringify(value, null, 2)}`,
    )
    .join("\n");
}

export interface Outcome {
  readonly end: CallEnd;
  /** In one line; empty if it did not fail. */
  readonly reason: string;
  /** Milliseconds that the result of a command names. */
  readonly took: number | null;
}

/**
 * How a call ended, and why. What is stored of a result has no status: a failure begins with `Error: `, a command says
 * its exit code.
 */
export function outcomeOf(
  name: string,
  content: string | null,
  status: "success" | "error" | null,
): Outcome {
  if (content === null) {
    return { end: "unknown", reason: "", took: null };
  }
  const [first = ""] = content.slice(0, MAX_SUBJECT).split("\n", 1);
  if (status === "error" || (status === null && first.startsWith("Error: "))) {
    return { end: "error", reason: first.replace(/^Error: /, ""), took: null };
  }
  const [, code, seconds] = /^exit code (\d+) after (\d+(?:\.\d+)?) s/.exec(first) ?? [];
  if (name !== "run_command" || code === "0") {
    return {
      end: "success",
      reason: "",
      took: seconds === undefined ? null : 1000 * Number(seconds),
    };
  }
  return code === undefined
    ? { end: "error", reason: first, took: null }
    : { end: "error", reason: `exit code ${code}`, took: 1000 * Number(seconds) };
}

/** What a group of reading calls did: `read 3 files, listed 2 folders`. */
export function readSummary(calls: readonly Pick<ToolCall, "name">[]): string {
  const of = (...names: string[]): number =>
    calls.filter(({ name }) => names.includes(name)).length;
  const [files, folders, searches] = [
    of("read_file"),
    of("list_files"),
    of("find_files", "search_files"),
  ];
  return [
    ...(files > 0 ? [`read ${plural(files, "file")}`] : []),
    ...(folders > 0 ? [`listed ${plural(folders, "folder")}`] : []),
    ...(searches > 0 ? [`searched ${searches === 1 ? "once" : `${searches} times`}`] : []),
  ].join(", ");
}

/** `1 message`, `2 messages`. */
export function plural(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/** How long something took: `0.2 s`, `12 s`, `3 min 5 s`. */
export function tookText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  return seconds < 10 ? `${(Math.floor(seconds * 10) / 10).toFixed(1)} s` : secondsText(ms);
}

/** In whole seconds: `0 s`, `12 s`, `3 min 5 s`. */
export function secondsText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A field of a value from outside; undefined if it has none. */
function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function textOf(value: unknown, key: string): string | null {
  const text = fieldOf(value, key);
  return typeof text === "string" ? text : null;
}
