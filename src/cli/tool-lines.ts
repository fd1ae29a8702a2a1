import type { ToolCall } from "../core/sessions.ts";
import { oneLine } from "../core/terminal-text.ts";

/**
 * Characters of a tool's name, of a call's arguments, or of what a tool returned, that a line
 * shows.
 */
const CHARACTERS_SHOWN = 100;

export function toolCallLine(call: Pick<ToolCall, "name" | "args">): string {
  return `· ${shortened(call.name)} ${shortened(JSON.stringify(call.args) ?? "")}`;
}

/** A text on one line, cut. */
export function shortened(text: string): string {
  const line = oneLine(text);
  return line.length > CHARACTERS_SHOWN ? `${line.slice(0, CHARACTERS_SHOWN)}…` : line;
}
