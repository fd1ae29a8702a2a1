import type { FileChangeInfo } from "../../core/schemas/file-change-schemas.ts";
import type { Message } from "../../core/sessions.ts";
import { type FileChange, readChangesOfCalls } from "../../store/records/file-changes/read.ts";
import {
  readTranscriptPage,
  readTranscriptSession,
  type TranscriptSession,
} from "../../store/records/messages/transcript-page.ts";
import { changesByCall, type ChangeSource } from "../undo/show-changes.ts";

/**
 * A session for people, in the order in which it is shown: `begin`, its messages, `end`. A sub-agent has the same after
 * the message with the call that began it, or at the end if there is none.
 */
export type TranscriptItem =
  | { readonly type: "begin"; readonly session: TranscriptSession; readonly depth: number }
  | {
      readonly type: "message";
      readonly message: Message;
      readonly isPending: boolean;
      /** Changes of files by the id of their call. */
      readonly changes: ReadonlyMap<string, readonly FileChangeInfo[]>;
    }
  | { readonly type: "end"; readonly depth: number };

/** Where a transcript is read. `changes` is null for a reader who may not see what files held. */
export interface TranscriptSource {
  readonly store: ChangeSource["store"];
  readonly changes: ChangeSource | null;
}

/**
 * Reads up to the last message that was stored when it began, in pages of 1 MiB, so that memory does not grow with the
 * session. What models thought is left out.
 *
 * Error codes: as `resolveSession`; `database_corrupt`.
 */
export async function* readTranscript(
  source: TranscriptSource,
  { id }: { readonly id: string },
): AsyncGenerator<TranscriptItem> {
  yield* readBelow(source, { id, depth: 0, top: null });
}

interface TranscriptPart {
  readonly id: string;
  readonly depth: number;
  /** The session with depth 0, which a damaged database may have below itself; null if this is that one. */
  readonly top: string | null;
}

async function* readBelow(
  source: TranscriptSource,
  { id, depth, top }: TranscriptPart,
): AsyncGenerator<TranscriptItem> {
  const { store } = source;
  const session = await store.read(readTranscriptSession, { id });
  const session_id = session.session.id;
  const below = { depth: depth + 1, top: top ?? session_id };
  const left = new Map(
    session.children
      .filter((child) => child.id !== below.top)
      .map((child) => [child.id, child.call_id]),
  );
  yield { type: "begin", session, depth };
  let after_seq = 0;
  while (after_seq < session.session.last_seq) {
    const page = await store.read(readTranscriptPage, { session_id, after_seq });
    const changed = await changesIn(source, page.messages);
    for (const message of page.messages) {
      yield await itemOf(source, message, { pending: page.pending, changed });
      const calls = new Set(message.tool_calls?.map((call) => call.id));
      for (const [child, call] of left) {
        if (call !== null && calls.has(call)) {
          left.delete(child);
          yield* readBelow(source, { ...below, id: child });
        }
      }
    }
    after_seq = page.messages.at(-1)?.seq ?? session.session.last_seq;
  }
  for (const child of left.keys()) {
    yield* readBelow(source, { ...below, id: child });
  }
  yield { type: "end", depth };
}

/** Changes of files by the id of their call, of messages of one session; none for who may not see these. */
async function changesIn(
  { store, changes }: TranscriptSource,
  messages: readonly Message[],
): Promise<ReadonlyMap<string, readonly FileChange[]>> {
  const [first] = messages;
  const call_ids = messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id));
  return changes === null || first === undefined || call_ids.length === 0
    ? new Map()
    : Map.groupBy(
        await store.read(readChangesOfCalls, { session_id: first.session_id, call_ids }),
        ({ call_id }) => call_id,
      );
}

interface PageFacts {
  readonly pending: ReadonlySet<number>;
  readonly changed: ReadonlyMap<string, readonly FileChange[]>;
}

async function itemOf(
  { changes }: TranscriptSource,
  message: Message,
  { pending, changed }: PageFacts,
): Promise<TranscriptItem> {
  const rows = (message.tool_calls ?? []).flatMap(({ id }) => changed.get(id) ?? []);
  return {
    type: "message",
    message,
    isPending: pending.has(message.seq),
    changes: changes === null ? new Map() : await changesByCall(changes, rows),
  };
}
