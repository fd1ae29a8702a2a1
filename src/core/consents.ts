import { oneLine } from "./text/terminal-text.ts";

/**
 * Subjects of a consent: an answer (the subject is the question's id), a mode, a call that needs no question any more
 * (its rule), messages (up to which `seq`) and settings of callers without authentication, and an exchange that was
 * undone or made again (its number), and a run with checks (the hash of its plan and them).
 */
export const CONSENT_KINDS = [
  "answer",
  "mode",
  "rule",
  "messages",
  "settings",
  "undo",
  "redo",
  "run",
] as const;
export type ConsentKind = (typeof CONSENT_KINDS)[number];

const MAX_NAME = 64;

/** A user of an operating system, in at most 129 characters that a terminal does not interpret. */
export function userAt(user: string, host: string): string {
  return `${named(user)}@${named(host)}`;
}

function named(text: string): string {
  const clean = oneLine(text.toWellFormed().replaceAll("\0", ""));
  return Array.from(clean).slice(0, MAX_NAME).join("") || "?";
}
