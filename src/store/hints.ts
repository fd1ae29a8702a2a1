/*
 * Names that a write touches in place of its session's id, so that those who hear of it know more of
 * what was stored. Each is a word, a space and the session's id.
 */

const LIVE = "live ";
const MESSAGE = "message ";
const STOP = "stop ";

/** Only the text of an answer, or the state of its exchange, was stored. */
export function liveHint(session_id: string): string {
  return `${LIVE}${session_id}`;
}

/** Only a message was appended that waits for the next exchange: none became ready to run. */
export function messageHint(session_id: string): string {
  return `${MESSAGE}${session_id}`;
}

/** The session's exchange is asked to stop: touched beside the id, because its other commits say nothing of that. */
export function stopHint(session_id: string): string {
  return `${STOP}${session_id}`;
}

export function isLiveHint(hint: string): boolean {
  return hint.startsWith(LIVE);
}

/** True if no exchange can have become ready to run. */
export function isOfNoExchange(hint: string): boolean {
  return isLiveHint(hint) || hint.startsWith(MESSAGE);
}

/** The session's id of such a name, or the id that was touched. */
export function sessionOfHint(hint: string): string {
  return hint.slice(hint.indexOf(" ") + 1);
}
