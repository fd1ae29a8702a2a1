import { newId } from "../../../core/ids.ts";
import { readMessage } from "../../records/messages/message-json.ts";
import { type MirrorMessage, mirrorColumns } from "../../records/messages/mirror-message.ts";
import { mirrorOf } from "../../records/messages/mirror-row.ts";
import type { Tx } from "../../store.ts";
import { messageListOf } from "../head-mark.ts";
import { type Segment, segmentsOf, selectBodies } from "../lists.ts";
import { type ListVersion, parseChannels } from "../value.ts";

export interface RestoreEdited {
  /** The session whose rows are changed. */
  readonly id: string;
  /** Rows of the checkpoint that it continues, and of the one whose messages its rows show. */
  readonly checkpoint: number;
  readonly latest: number;
}

/**
 * Gives messages the texts and ids that they have in a checkpoint: the graph of another agent may have changed them since.
 * Reads them only if it has changed something. Returns the first position that differs then; null for none.
 */
export async function restoreEdited(tx: Tx, input: RestoreEdited): Promise<number | null> {
  const earlier = await earlierMessages(tx, input);
  if (earlier.length === 0) {
    return null;
  }
  const rows = await selectMessages(tx, input.id);
  const changed: number[] = [];
  for (const { message, row } of rowsOf(earlier, rows)) {
    const columns = { ...mirrorColumns(message), message_id: message.message_id };
    const isSame = Object.entries(columns).every(
      ([name, value]) => Reflect.get(row, name) === value,
    );
    if (!isSame) {
      await freeId(tx, { id: input.id, message, seq: row.seq });
      await setColumns(tx, { id: input.id, seq: row.seq, columns });
      changed.push(row.seq);
    }
  }
  return changed.length === 0 ? null : Math.min(...changed);
}

/** The messages of a checkpoint, unless the latest one begins with all of them: none then. */
export async function earlierMessages(
  tx: Tx,
  { checkpoint, latest }: Omit<RestoreEdited, "id">,
): Promise<readonly MirrorMessage[]> {
  const [version, later] = [await messagesOf(tx, checkpoint), await messagesOf(tx, latest)];
  if (version === null) {
    return [];
  }
  const { segments } = await segmentsOf(tx, version, new Map());
  const { segments: others } = later === null ? NONE : await segmentsOf(tx, later, new Map());
  return isContinued(segments, others) ? [] : mirrored(tx, segments);
}

type Row = Awaited<ReturnType<typeof selectMessages>>[number];

function selectMessages({ db }: Tx, id: string) {
  return db
    .selectFrom("messages")
    .select(["seq", "message_id", "content", "role", "tool_calls", "token_count", "is_summary"])
    .select(["call_id", "status"])
    .where("session_id", "=", id)
    .orderBy("seq")
    .execute();
}

/** The row of each message: that with its id, else one with its text that was given another id by a summary. */
function rowsOf(
  messages: readonly MirrorMessage[],
  rows: readonly Row[],
): { readonly message: MirrorMessage; readonly row: Row }[] {
  const known = new Map(rows.map((row) => [row.message_id, row]));
  const taken = new Set(messages.map(({ message_id }) => message_id));
  return messages.flatMap((message) => {
    const own = known.get(message.message_id);
    const isOwn = own !== undefined && (own.is_summary === 1) === message.is_summary;
    const row = isOwn
      ? own
      : rows.find((one) => !taken.has(one.message_id) && isLike(one, message));
    if (row === undefined) {
      return [];
    }
    taken.add(row.message_id);
    return [{ message, row }];
  });
}

function isLike(row: Row, { role, content, is_summary }: MirrorMessage): boolean {
  return row.role === role && row.content === content && (row.is_summary === 1) === is_summary;
}

interface OfRow {
  readonly id: string;
  readonly seq: number;
}

/** Gives the row that has the id of a message, a summary of it or what it replaced, another one. */
async function freeId(
  { db }: Tx,
  { id, seq, message }: OfRow & { readonly message: MirrorMessage },
): Promise<void> {
  await db
    .updateTable("messages")
    .set({ message_id: newId() })
    .where("session_id", "=", id)
    .where("message_id", "=", message.message_id)
    .where("seq", "<>", seq)
    .execute();
}

async function setColumns(
  { db }: Tx,
  {
    id,
    seq,
    columns,
  }: OfRow & {
    readonly columns: ReturnType<typeof mirrorColumns> & { readonly message_id: string };
  },
): Promise<void> {
  await db
    .updateTable("messages")
    .set(columns)
    .where("session_id", "=", id)
    .where("seq", "=", seq)
    .execute();
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
