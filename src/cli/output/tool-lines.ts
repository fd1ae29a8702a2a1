import { reasonOf } from "../../core/text/result-text.ts";
import type { CallFacts, CallStatus } from "../../core/calls.ts";
import { callEnd } from "../../core/text/words.ts";
import { commandNotes } from "../../core/text/command-notes.ts";
import type { MadeCall } from "../../core/sessions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";

/**
 * Characters of a tool's name, of what a call is about, or of what a tool returned, that a line
 * shows.
 */
const CHARACTERS_SHOWN = 100;
/** Length of a command that is shown: all of most of them. */
const CHARACTERS_OF_COMMAND = 1000;

/** A call as a line shows it; of some, nothing is known besides. */
type ShownCall = Pick<MadeCall, "name" | "args"> & Partial<CallFacts>;

/** Name and subject of a call. */
export function toolCallLine(call: ShownCall): string {
  const max = call.effect === "runs" ? CHARACTERS_OF_COMMAND : CHARACTERS_SHOWN;
  return `· ${shortened(call.name)} ${shortened(subjectText(call), max)}`;
}

/** Subject of a call, or its arguments as JSON. */
export function subjectText({ subject, args }: Pick<ShownCall, "subject" | "args">): string {
  return subject ?? JSON.stringify(args) ?? "";
}

interface ToolResult extends Pick<CallFacts, "effect"> {
  readonly name: string;
  /** Null if it was not recorded. */
  readonly status: CallStatus | null;
  readonly content: string;
}

function isReason(status: CallStatus | null): boolean {
  return status !== null && status !== "ok";
}

/** How a call ended, with the beginning of its result, or of a failure with the reason. */
export function resultLine({ name, status, content }: Omit<ToolResult, "effect">): string {
  return `· ${shortened(name)} ${callEnd(status ?? "ok")}: ${shortened(isReason(status) ? reasonOf(content) : content)}`;
}

/** Returns what a person has to know of a result, in clean lines. */
export function notesOf({ effect, content }: Pick<ToolResult, "effect" | "content">): string[] {
  return effect === "runs" ? commandNotes(content).map((note) => oneLine(note)) : [];
}

/** True for a call that may have changed files: a program that fails may have done so before. */
export function mayHaveChanged({ effect, status }: Pick<ToolResult, "effect" | "status">): boolean {
  return effect === "runs"
    ? status === "ok" || status === "failed" || status === "unknown"
    : effect === "changes" && status === "ok";
}

/** A text on one line, cut. */
export function shortened(text: string, max = CHARACTERS_SHOWN): string {
  const line = oneLine(text);
  return line.length > max ? `${line.slice(0, max)}…` : line;
}
