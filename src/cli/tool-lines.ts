import type { ToolCall } from "../core/sessions.ts";
import { oneLine } from "../core/terminal-text.ts";
import { shownCommand } from "../exchange/commands/shown-command.ts";
import { RUN_COMMAND } from "../exchange/tool-catalogue.ts";

/**
 * Characters of a tool's name, of a call's arguments, or of what a tool returned, that a line
 * shows.
 */
const CHARACTERS_SHOWN = 100;
/** The same of a command: all of most of them. */
const CHARACTERS_OF_COMMAND = 1000;

export function toolCallLine({ name, args }: Pick<ToolCall, "name" | "args">): string {
  const command = name === RUN_COMMAND ? shownCommand(args) : "";
  return command === ""
    ? `· ${shortened(name)} ${shortened(JSON.stringify(args) ?? "")}`
    : `· ${name} ${shortened(command, CHARACTERS_OF_COMMAND)}`;
}

/** Of the result of a command, how it ended; null for another one. */
export function commandEndLine(result: {
  readonly name: string;
  readonly content: string;
}): string | null {
  const [first = ""] = result.content.split("\n", 1);
  return result.name === RUN_COMMAND ? `· ${shortened(first)}` : null;
}

/** A text on one line, cut. */
export function shortened(text: string, max = CHARACTERS_SHOWN): string {
  const line = oneLine(text);
  return line.length > max ? `${line.slice(0, max)}…` : line;
}
