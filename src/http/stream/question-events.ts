import { listOpenQuestionIds, readQuestionBelow } from "../../store/questions/read.ts";
import type { Store } from "../../store/store.ts";

export interface QuestionEvents {
  readonly store: Store;
  readonly session_id: string;
  readonly write: (bytes: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Makes the function that sends each question of a session and its sub-agents that was asked, answered or
 * withdrawn since its last call; the first call sends those that are open. One question is held in memory at
 * a time. After an error, the next call sends the rest.
 *
 * Error codes: `database_*`.
 */
export function createQuestionEvents(events: QuestionEvents): () => Promise<void> {
  const { store, session_id, write, signal } = events;
  const sent = new Set<string>();
  return async () => {
    const open = new Set(await store.read(listOpenQuestionIds, { session_id }));
    for (const id of sent.symmetricDifference(open)) {
      if (signal.aborted) {
        return;
      }
      const question = await store.read(readQuestionBelow, { id, top: session_id });
      const wasSent = sent.delete(id);
      if (question?.state === "open") {
        if (wasSent) {
          // its session was ended by a version without questions
          continue;
        }
        sent.add(id);
      }
      if (question !== null) {
        // no `id`: a client resumes after its last message
        await write(Buffer.from(`event: question\ndata: ${JSON.stringify(question)}\n\n`));
      }
    }
  };
}
