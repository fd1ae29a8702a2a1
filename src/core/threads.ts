import { MAX_THREAD_ID_BYTES } from "./limits.ts";
import { isStorableText } from "./text/text.ts";

/** A thread is one agent context of a session: `{session_id}:{suffix}`, suffix from 0. */
export interface Thread {
  readonly sessionId: string;
  readonly suffix: number;
}

export function threadId(sessionId: string, suffix: number): string {
  return `${sessionId}:${suffix}`;
}

/** The session and suffix of a thread id; null for a thread that no session could own. */
export function parseThreadId(id: string): Thread | null {
  const match = /^([0-9a-f-]{36}):(0|[1-9]\d{0,8})$/.exec(id);
  return match?.[1] === undefined ? null : { sessionId: match[1], suffix: Number(match[2]) };
}

/** True for a text that a database can keep as the id of a thread. */
export function isThreadId(id: string): boolean {
  return id !== "" && isStorableText(id) && Buffer.byteLength(id) <= MAX_THREAD_ID_BYTES;
}
