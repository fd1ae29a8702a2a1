import { type SessionTree, sessionsOf } from "./export-schema.ts";

/** How much of each kind. */
export interface Counts {
  readonly sessions: number;
  readonly messages: number;
  readonly threads: number;
  readonly checkpoints: number;
}

export const NOTHING: Counts = { sessions: 0, messages: 0, threads: 0, checkpoints: 0 };

/** What a session and its sub-agents have. */
export function countsOf(tree: SessionTree): Counts {
  return [...sessionsOf(tree)].reduce(
    (counts, { messages, threads }) =>
      sumOf(counts, {
        sessions: 1,
        messages: messages.length,
        threads: threads.length,
        checkpoints: threads.reduce((sum, { checkpoints }) => sum + checkpoints.length, 0),
      }),
    NOTHING,
  );
}

export function sumOf(one: Counts, other: Counts): Counts {
  return {
    sessions: one.sessions + other.sessions,
    messages: one.messages + other.messages,
    threads: one.threads + other.threads,
    checkpoints: one.checkpoints + other.checkpoints,
  };
}
