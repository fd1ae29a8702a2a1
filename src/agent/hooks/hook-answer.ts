import { stripVTControlCharacters } from "node:util";

import { oneLine, visible } from "../../core/text/terminal-text.ts";
import type { HookEvent } from "../../rules/hooks/hook.ts";

/** How the command of a hook ended. */
export interface HookEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why Reprise ended it, as a sentence; null if it ended by itself. */
  readonly ended: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Answer of a hook; at most one of `denied` and `error` has a text. */
export interface HookAnswer {
  /** Reason for which a call or a message is denied, or the model is to continue. */
  readonly denied: string | null;
  /** For the model. */
  readonly note: string | null;
  /** For a person. */
  readonly message: string | null;
  /** Why it failed, for a person. Nothing is denied by that. */
  readonly error: string | null;
}

const NOTHING: HookAnswer = { denied: null, note: null, message: null, error: null };

/** Exit code that denies: "Exit code output" of Claude Code's hooks reference. */
const DENIES = 2;
/** Events in which a hook can deny something; elsewhere its reason is an error. */
const DENIABLE: ReadonlySet<HookEvent> = new Set(["PreToolUse", "UserPromptSubmit", "Stop"]);
/** Events whose plain output is for the model. Claude Code does not give it that of `PostToolUse`. */
const NOTED: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PostToolUse"]);
/** Characters of a text from a hook; Claude Code has the same limit. */
const MAX_TEXT = 10_000;
const MAX_LINE = 500;
const NO_REASON = "the hook gives no reason";

/**
 * Reads what a hook wants of how it ended: "Hook output" of Claude Code's hooks reference. Exit code 0 may come with a
 * JSON object, 2 denies with the standard error as the reason, and all others are errors that block nothing. A hook never
 * allows what rules deny or ask about: `allow` and `approve` are ignored, and so is `updatedInput`. `ask` denies.
 */
export function hookAnswer(event: HookEvent, end: HookEnd): HookAnswer {
  if (end.ended !== null) {
    return { ...NOTHING, error: end.ended };
  }
  if (end.code === DENIES) {
    return denying(event, clean(end.stderr) ?? NO_REASON);
  }
  if (end.code !== 0) {
    const how =
      end.code === null ? `it was ended by ${end.signal ?? "the system"}` : `exit code ${end.code}`;
    const [line = ""] = (clean(end.stderr) ?? clean(end.stdout) ?? "").split("\n", 1);
    return { ...NOTHING, error: line === "" ? how : `${how}: ${oneLine(line).slice(0, MAX_LINE)}` };
  }
  const text = end.stdout.trim();
  const value = text.startsWith("{") ? parsed(text) : undefined;
  if (typeof value === "object" && value !== null) {
    return answered(event, value);
  }
  if (text.startsWith("{") && !NOTED.has(event)) {
    return { ...NOTHING, error: "its output begins as JSON and is none" };
  }
  return { ...NOTHING, note: NOTED.has(event) ? clean(text) : null };
}

function denying(event: HookEvent, reason: string): HookAnswer {
  if (event === "PostToolUse") {
    return { ...NOTHING, note: reason };
  }
  return DENIABLE.has(event)
    ? { ...NOTHING, denied: reason }
    : { ...NOTHING, error: oneLine(reason).slice(0, MAX_LINE) };
}

function answered(event: HookEvent, value: object): HookAnswer {
  const special: unknown = Reflect.get(value, "hookSpecificOutput");
  const specific = typeof special === "object" && special !== null ? special : {};
  const message = textOf(value, "systemMessage");
  const given = textOf(specific, "additionalContext");
  const denied = deniedBecause(event, value, specific);
  const answer = denied === null ? NOTHING : denying(event, denied);
  const notes = [answer.note, given].filter((note) => note !== null);
  return {
    ...answer,
    note: notes.length === 0 ? null : notes.join("\n"),
    message: message === null ? null : oneLine(message),
  };
}

/** Null if nothing is denied. */
function deniedBecause(event: HookEvent, value: object, specific: object): string | null {
  const isEnd: boolean = Reflect.get(value, "continue") === false;
  if (isEnd) {
    // the model stops there anyway
    return event === "Stop" ? null : (textOf(value, "stopReason") ?? NO_REASON);
  }
  if (event === "PreToolUse") {
    const decision: unknown = Reflect.get(specific, "permissionDecision");
    const reason = textOf(specific, "permissionDecisionReason");
    if (decision === "deny") {
      return reason ?? NO_REASON;
    }
    if (decision === "ask") {
      return `a person has to decide about it: ${reason ?? NO_REASON}`;
    }
  }
  return Reflect.get(value, "decision") === "block" ? (textOf(value, "reason") ?? NO_REASON) : null;
}

function textOf(value: object, name: string): string | null {
  const text: unknown = Reflect.get(value, name);
  return typeof text === "string" ? clean(text) : null;
}

/** Text of a hook as it may be stored and shown: without colours, cut; null if nothing is left. */
function clean(text: string): string | null {
  // one that is cut off is not cleaned
  const start = stripVTControlCharacters(text.slice(0, 2 * MAX_TEXT));
  const plain = visible(start.toWellFormed()).trim();
  const cut = plain.length > MAX_TEXT || text.length > 2 * MAX_TEXT;
  const shown = cut ? `${plain.slice(0, MAX_TEXT).toWellFormed()}\n… the rest is left out` : plain;
  return shown === "" ? null : shown;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
