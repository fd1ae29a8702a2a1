import { textHash } from "../../store/checkpoints/bodies.ts";
import type { BodyRow } from "../../store/checkpoints/read.ts";
import { type MessageJson, readMessage } from "../../store/messages/message-json.ts";
import type { MirrorMessage } from "../../store/messages/mirror.ts";
import { isAnswer, mirrorOf, tokenCountOf } from "../../store/messages/mirror-row.ts";
import type { HeadFault } from "../../store/verify/head.ts";
import type { Verification, VerifiedThread } from "../../store/verify/read.ts";
import { isReadable } from "./readable.ts";

/** A message of a thread's latest checkpoint, as its row has to be. */
export interface CheckpointMessage {
  readonly message: MirrorMessage;
  /** Suffix of the thread that holds it. */
  readonly thread: number;
  /** When the thread's latest checkpoint was made: the time of a row that has to be made anew. */
  readonly ts: string;
}

export interface DamagedThread {
  readonly thread_id: string;
  readonly fault: HeadFault;
}

/** What the checkpoints of a session say, as plain data. */
export interface CheckpointMessages {
  /** In the order of the threads, then of their messages; each id once. */
  readonly messages: readonly CheckpointMessage[];
  /** Messages that the agent has taken out of a thread and whose bodies are still kept, oldest first. */
  readonly removed: readonly MirrorMessage[];
  /** True where a provider has not said what an answer was sent: it is estimated from the messages before. */
  readonly estimated: boolean;
  /** Threads whose latest checkpoint is damaged: what they say is not known. */
  readonly damaged: readonly DamagedThread[];
}

/** Makes the rows of a session's messages once more from its checkpoints. */
export function checkpointMessages({
  threads,
  lost,
}: Pick<Verification, "threads" | "lost">): CheckpointMessages {
  const messages = new Map<string, CheckpointMessage>();
  const removed: MirrorMessage[] = [];
  const damaged = lost.map((thread_id): DamagedThread => ({ thread_id, fault: "lost" }));
  let estimated = false;
  for (const thread of threads) {
    const { thread_id } = thread;
    const present = messagesOf(thread);
    if (present === null) {
      damaged.push({ thread_id, fault: thread.fault ?? "unreadable" });
      continue;
    }
    const rows = rowsOf(present);
    for (const message of rows) {
      const known = messages.get(message.message_id);
      messages.set(message.message_id, again(known, { message, thread }));
    }
    const gone = removedFrom(thread);
    if (present.length === 0 && gone.some(isAnswer)) {
      // it answered, and its latest checkpoint holds nothing: that would resume blank
      damaged.push({ thread_id, fault: "changed" });
      continue;
    }
    removed.push(...gone.flatMap((message) => mirrorOf([message], 0) ?? []));
    estimated ||= [...present, ...gone].some(isUncounted);
  }
  return { messages: [...messages.values()], removed, estimated, damaged };
}

/** A message that a later thread has too keeps its place and is charged once, as in the mirror. */
function again(
  known: CheckpointMessage | undefined,
  { message, thread }: { message: MirrorMessage; thread: VerifiedThread },
): CheckpointMessage {
  return known === undefined
    ? { message, thread: thread.suffix, ts: thread.ts }
    : { ...known, message: { ...message, usage: known.message.usage } };
}

function messagesOf({ fault, head, messages }: VerifiedThread): readonly MessageJson[] | null {
  if (fault !== null || head === null || !isReadable(head.page, head)) {
    return null;
  }
  const read = messages.flatMap((body) => unchangedMessage(body) ?? []);
  return read.length === messages.length ? read : null;
}

function rowsOf(messages: readonly MessageJson[]): MirrorMessage[] {
  const tokens = messages.map(tokenCountOf);
  return messages.flatMap(
    (_, index) => mirrorOf(messages, index, (place) => tokens[place] ?? 0) ?? [],
  );
}

/** An answer whose provider did not say what it was sent. */
function isUncounted(message: MessageJson): boolean {
  return isAnswer(message) && message.usage_metadata === undefined;
}

/** Null for a body that is no message, or no longer the one that was stored. */
export function unchangedMessage({ body, hash }: BodyRow): MessageJson | null {
  return textHash(body) === hash ? readMessage(body) : null;
}

/** Every message has an id; other texts of a thread are arrays, too. */
function removedFrom({ others }: VerifiedThread): MessageJson[] {
  return others
    .flatMap((body) => unchangedMessage(body) ?? [])
    .filter(({ id }) => id !== undefined);
}
