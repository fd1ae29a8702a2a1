import { commandNotes } from "../core/command-notes.ts";
import type { ToolCall } from "../core/sessions.ts";
import { oneLine } from "../core/terminal-text.ts";
import { shownCommand } from "../exchange/commands/shown-command.ts";
import { editingTools } from "../exchange/permissions/layers.ts";
import { BUILT_IN_TOOLS, RUN_COMMAND } from "../exchange/tools/built-in.ts";

/**
 * Characters of a tool's name, of a call's arguments, or of what a tool returned, that a line
 * shows.
 */
const CHARACTERS_SHOWN = 100;
/** The same of a command: all of most of them. */
const CHARACTERS_OF_COMMAND = 1000;

/** Of a command all of it, of a call on files their paths, else the arguments. */
export function toolCallLine(call: Pick<ToolCall, "name" | "args">): string {
  const { kind, text } = callSubject(call);
  return kind === "command"
    ? `· ${call.name} ${shortened(text, CHARACTERS_OF_COMMAND)}`
    : `· ${shortened(call.name)} ${shortened(text)}`;
}

/** What a call is about: a command, paths of files, or its arguments as JSON. The text is not cleaned. */
export function callSubject({ name, args }: Pick<ToolCall, "name" | "args">): {
  readonly kind: "command" | "files" | "arguments";
  readonly text: string;
} {
  const command = name === RUN_COMMAND.name ? shownCommand(args) : "";
  if (command !== "") {
    return { kind: "command", text: command };
  }
  const files = shownFiles(name, args);
  return files === null
    ? { kind: "arguments", text: JSON.stringify(args) ?? "" }
    : { kind: "files", text: files };
}

/** What these write is in the diff of the question, or of the exchange. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(
  editingTools(BUILT_IN_TOOLS).map(({ name }) => name),
);

/** The path that is read, if the call has nothing else, or those that are written; null for other calls. */
function shownFiles(name: string, args: unknown): string | null {
  const isWhole = name === "read_file" && Object.keys(args ?? {}).length === 1;
  if (!isWhole && !WRITING_TOOLS.has(name)) {
    return null;
  }
  const [patch, edits] = [fieldOf(args, "patch"), fieldOf(args, "edits")];
  const paths = Array.isArray(edits)
    ? edits.map((edit) => fieldOf(edit, "path"))
    : typeof patch === "string"
      ? pathsOfPatch(patch)
      : [fieldOf(args, "path")];
  const isComplete = paths.length > 0 && paths.every((path) => typeof path === "string");
  return isComplete ? [...new Set(paths)].join(", ") : null;
}

function pathsOfPatch(patch: string): string[] {
  const lines = patch.matchAll(/^\*\*\* (?:Update File|Add File|Delete File|Move to): *(.*)$/gm);
  return [...lines].map(([, path = ""]) => path.trim());
}

/** A field of a value from outside; undefined if it has none. */
export function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

interface ToolResult {
  readonly name: string;
  readonly content: string;
}

/** Of the result of a command, how it ended and what else a person has to know; none for another one. */
export function commandEndLines(result: ToolResult): string[] {
  const [first = ""] = result.content.split("\n", 1);
  return result.name === RUN_COMMAND.name
    ? [`· ${shortened(first)}`, ...notesOf(result).map((note) => `note: ${note}`)]
    : [];
}

/** What a person has to know of a result, in clean lines. */
export function notesOf({ name, content }: ToolResult): string[] {
  return name === RUN_COMMAND.name ? commandNotes(content).map((note) => oneLine(note)) : [];
}

/** A text on one line, cut. */
export function shortened(text: string, max = CHARACTERS_SHOWN): string {
  const line = oneLine(text);
  return line.length > max ? `${line.slice(0, max)}…` : line;
}
