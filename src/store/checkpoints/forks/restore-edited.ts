import { readMessage } from "../../records/messages/message-json.ts";
import { type MirrorMessage, mirrorColumns } from "../../records/messages/mirror-message.ts";
import { mirrorOf } from "../../records/messages/mirror-row.ts";
import type { Tx } from "../../store.ts";
import { messageListOf } from "../head-mark.ts";
import { type Segment, segmentsOf, selectBodies } from "../lists.ts";
import { type ListVersion, parseChannels } from "../value.ts";

export interface RestoreEdited {
  /** The fork. */
  readonly id: string;
  /** Rows of the checkpoint that it continues, and of its origin's latest one. */
  readonly checkpoint: number;
  readonly latest: number;
}

/**
 * Gives messages of a fork the texts and ids that they had then: the graph of another agent may have changed them in the
 * origin since. Reads them only if it has changed something.
 */
export async function restoreEdited(tx: Tx, input: RestoreEdited): Promise<void> {
  const version = await messagesOf(tx, input.checkpoint);
  const latest = await messagesOf(tx, input.latest);
  const { segments } = version === null ? NONE : await segmentsOf(tx, version, new Map());
  const later = latest === null ? NONE : await segmentsOf(tx, latest, new Map());
  if (version === null || isContinued(segments, later.segments)) {
    return;
  }
  const messages = await mirrored(tx, segments);
  const rows = await tx.db
    .selectFrom("messages")
    .select(["seq", "message_id", "content", "role", "tool_calls", "token_count", "is_summary"])
    .select(["call_id", "status"])
    .where("session_id", "=", input.id)
    .orderBy("seq")
    .execute();
  const known = new Map(rows.map((row) => [row.message_id, row]));
  const wanted = new Set(messages.map(({ message_id }) => message_id));
  for (const message of messages) {
    const columns = mirrorColumns(message);
    const row =
      known.get(message.message_id) ??
      rows.find(
        (one) =>
          !wanted.has(one.message_id) &&
          one.role === message.role &&
          one.content === message.content,
      );
    if (row === undefined) {
      continue;
    }
    wanted.add(row.message_id);
    const isSame = Object.entries(columns).every(
      ([name, value]) => Reflect.get(row, name) === value,
    );
    if (!isSame || row.message_id !== message.message_id) {
      await tx.db
        .updateTable("messages")
        .set({ ...columns, message_id: message.message_id })
        .where("session_id", "=", input.id)
        .where("seq", "=", row.seq)
        .execute();
    }
  }
}

const NONE = { segments: [] } as const;

/** The messages that a checkpoint has; null for none. */
export async function messagesOf({ db }: Tx, row: number | null): Promise<ListVersion | null> {
  const stored = await db
    .selectFrom("checkpoints")
    .select("channels")
    .where("id", "=", row)
    .executeTakeFirst();
  return stored === undefined ? null : messageListOf(parseChannels(stored.channels));
}

/** True if the later messages begin with all of the others. */
function isContinued(segments: readonly Segment[], later: readonly Segment[]): boolean {
  return segments.every(({ list, from, to }, index) => {
    const other = later[index];
    return other?.list === list && other.from === from && other.to >= to;
  });
}

async function mirrored(tx: Tx, segments: readonly Segment[]): Promise<MirrorMessage[]> {
  const bodies: string[] = [];
  for (const segment of segments) {
    const rows = await selectBodies(tx, segment).select("checkpoint_bodies.body").execute();
    bodies.push(...rows.map(({ body }) => body));
  }
  const messages = bodies.flatMap((body) => readMessage(body) ?? []);
  return messages.flatMap((_, index) => mirrorOf(messages, index) ?? []);
}
