const PREFIX = "live ";

/** Touched in place of the session when only the text of an answer, or the state of its exchange, was stored. */
export function liveHint(session_id: string): string {
  return `${PREFIX}${session_id}`;
}

export function isLiveHint(hint: string): boolean {
  return hint.startsWith(PREFIX);
}

/** The session of such a hint. */
export function sessionOfHint(hint: string): string {
  return hint.slice(PREFIX.length);
}
