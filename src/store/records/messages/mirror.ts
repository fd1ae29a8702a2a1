import { type Expression, sql } from "kysely";

import { newId } from "../../../core/ids.ts";
import type { Origin } from "../../../core/principal.ts";
import type { Role } from "../../../core/sessions.ts";
import { titleOf } from "../../../core/text/text.ts";
import { batches } from "../threads/bodies.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Fence } from "../leases/fence.ts";
import { deletePieces } from "../live/store-live.ts";
import { indexAgain } from "../search/forget.ts";
import { lockSession } from "../sessions/lock.ts";
import type { Operation, Tx } from "../../store.ts";
import { ALL_MIRROR_COLUMNS, type MirrorMessage, mirrorColumns } from "./mirror-message.ts";

/** A message of a checkpoint that has a row now. */
export type StoredMessage = Pick<
  MirrorMessage,
  "message_id" | "role" | "is_summary" | "call_id"
> & {
  readonly seq: number;
};

export interface MirrorInput {
  readonly session_id: string;
  /** The messages that the checkpoint adds or changes, in the checkpoint's order. */
  readonly messages: readonly MirrorMessage[];
  /** The lease that the transaction holds already; null for none. */
  readonly fence?: Fence | null;
}

/**
 * Brings the mirror up to a checkpoint. Part of the checkpoint's own transaction, so that the two
 * cannot drift apart. Messages that have a row keep their `seq` (a pending one is pending no more,
 * and the provider counts it from here in place of its estimate); new ones are appended. An answer
 * in the place of one that was dropped is counted then. A summary that takes the id of the message
 * it replaces gets a separate row, and the message keeps its row under a fresh id: the history
 * stays readable. Run again, it changes nothing. Does nothing for a session that does not exist.
 * Returns where the messages are.
 */
export const mirrorMessages: Operation<MirrorInput, readonly StoredMessage[]> = async (
  tx,
  input,
) => {
  if (input.messages.length === 0) {
    return [];
  }
  if (input.fence?.session_id !== input.session_id) {
    await lockSession(tx, input.session_id);
  }
  const known = await knownRows(tx, input);
  const messages = onePerId(input.messages);
  const kept: KeptMessage[] = [];
  const fresh: MirrorMessage[] = [];
  for (const message of messages.values()) {
    const row = known.get(message.message_id);
    if (row !== undefined && (row.is_summary === 1 || !message.is_summary)) {
      kept.push({ seq: row.seq, message, row });
    } else {
      if (row !== undefined) {
        await renameRow(tx, input.session_id, row);
      }
      fresh.push(message);
    }
  }
  const [counted] = await tx.rows(raiseCounters, {
    session_id: input.session_id,
    appended: fresh.length === 0 ? undefined : fresh.length,
    title: titleIn(fresh),
    ...chargesOf(kept, fresh),
  });
  if (counted === undefined) {
    return [];
  }
  const first = counted.last_seq - fresh.length + 1;
  const appended = fresh.map((message, index) => ({ seq: first + index, message }));
  const placed = [...kept, ...appended];
  for (const batch of batches(placed)) {
    // the time of new rows is not asked of the clock once more, as it is the session's moment
    const { session_id } = input;
    const ts = counted.last_activity_at;
    await tx.rows(upsertMessages, { session_id, ts, rows: batch.map(rowOf) });
  }
  const rewritten = kept.filter(isRewritten).map(({ seq }) => seq);
  if (rewritten.length > 0) {
    await indexAgain(tx, input.session_id, Math.min(...rewritten));
  }
  await deletePieces(tx, input);
  tx.touch(input.session_id);
  return placed.map(({ seq, message }) => ({ ...message, seq }));
};

/** A channel whose reducer is not LangGraph's may hold an id twice: the first is charged, the last shown. */
function onePerId(messages: readonly MirrorMessage[]): ReadonlyMap<string, MirrorMessage> {
  const byId = new Map<string, MirrorMessage>();
  for (const message of messages) {
    const { usage } = byId.get(message.message_id) ?? message;
    byId.set(message.message_id, { ...message, usage });
  }
  return byId;
}

interface PlacedMessage {
  readonly seq: number;
  readonly message: MirrorMessage;
}

interface KeptMessage extends PlacedMessage {
  readonly row: KnownRow;
}

interface KnownRow {
  readonly message_id: string;
  readonly seq: number;
  readonly role: Role;
  readonly token_count: number;
  readonly is_summary: number;
  readonly checkpointed: number;
  readonly content: string;
  readonly tool_calls: string | null;
}

async function knownRows(tx: Tx, input: MirrorInput): Promise<Map<string, KnownRow>> {
  const known = new Map<string, KnownRow>();
  for (const messages of batches(input.messages)) {
    for (const row of await tx.rows(rowsById, { session_id: input.session_id, messages })) {
      known.set(row.message_id, row);
    }
  }
  return known;
}

const rowsById = prepared(
  ({ db }, given: Parameter<Pick<MirrorInput, "session_id" | "messages">>) =>
    db
      .selectFrom("messages")
      .select([
        "message_id",
        "seq",
        "role",
        "token_count",
        "is_summary",
        "checkpointed",
        "content",
        "tool_calls",
      ])
      .where("session_id", "=", given("session_id"))
      .where("message_id", "in", given.all("messages", "message_id")),
);

async function renameRow(tx: Tx, sessionId: string, row: KnownRow): Promise<void> {
  await tx.db
    .updateTable("messages")
    .set({ message_id: newId() })
    .where("session_id", "=", sessionId)
    .where("seq", "=", row.seq)
    .execute();
}

/**
 * Sums what providers counted for the new messages, less the estimates of pending ones: the provider counts those
 * from here.
 */
function chargesOf(kept: readonly KeptMessage[], fresh: readonly MirrorMessage[]) {
  const replaced = kept.filter(isReplaced).map(({ message }) => message);
  const charged = [...fresh, ...replaced].flatMap(({ usage }) => usage ?? []);
  const estimates = kept
    .filter(({ row }) => row.checkpointed === 0 && row.role === "user")
    .reduce((sum, { row }) => sum + row.token_count, 0);
  return {
    input_tokens: charged.reduce((sum, usage) => sum + usage.input_tokens, 0) - estimates,
    output_tokens: charged.reduce((sum, usage) => sum + usage.output_tokens, 0),
  };
}

/** A graph may add a message of the user that nobody appended. */
function titleIn(fresh: readonly MirrorMessage[]): string | undefined {
  const message = fresh.find(({ role }) => role === "user");
  return message === undefined ? undefined : titleOf(message.content);
}

/** True for an answer in the place of what had arrived of one, for which nothing was counted. */
function isReplaced({ row, message }: KeptMessage): boolean {
  const isUncounted = row.token_count === 0 && row.content !== "";
  return row.role === "assistant" && isUncounted && row.content !== message.content;
}

/** True for a row that a search finds by another text or role from here on. */
function isRewritten({ row, message }: KeptMessage): boolean {
  const { role, content, tool_calls } = mirrorColumns(message);
  return row.role !== role || row.content !== content || row.tool_calls !== tool_calls;
}

interface Counted {
  readonly session_id: string;
  /** How many rows are new; undefined for none. */
  readonly appended: number | undefined;
  /** For a session that has no title yet; undefined if no user's message is new. */
  readonly title: string | undefined;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** Gives out positions to new messages, all at once. */
const raiseCounters = prepared(
  ({ db, dialect }, given: Parameter<Counted>) =>
    db
      .updateTable("sessions")
      .set((eb) => ({
        ...(given.has("appended")
          ? { last_seq: eb("last_seq", "+", given("appended")), last_message_at: dialect.now() }
          : {}),
        ...(given.has("title") ? { title: eb.fn.coalesce("title", given("title")) } : {}),
        ...raiseInputTokens(given("input_tokens")),
        total_output_tokens: eb("total_output_tokens", "+", given("output_tokens")),
        ...dialect.changeNumber,
      }))
      .where("id", "=", given("session_id"))
      .returning(["last_seq", "last_activity_at"]),
  ["appended", "title"],
);

/** If the estimates were higher than the provider's count, the total does not change until that has passed it. */
function raiseInputTokens(given: Expression<number>) {
  // the server cannot infer the type of a value that is only compared and added
  const counted = sql<number>`cast(${given} as bigint)`;
  const passes = sql<boolean>`${counted} > input_tokens_ahead`;
  return {
    total_input_tokens: sql<number>`case when ${passes} then total_input_tokens + ${counted} - input_tokens_ahead else total_input_tokens end`,
    input_tokens_ahead: sql<number>`case when ${passes} then 0 else input_tokens_ahead - ${counted} end`,
  };
}

function rowOf({ seq, message }: PlacedMessage) {
  const { message_id } = message;
  // a row that is there keeps its origin
  return { seq, message_id, ...mirrorColumns(message), origin: originOf(message) };
}

interface MirrorRows {
  readonly session_id: string;
  readonly ts: string;
  readonly rows: readonly ReturnType<typeof rowOf>[];
}

/** Few statements however many messages there are: each is a round trip to a server. */
const upsertMessages = prepared(({ db }, given: Parameter<MirrorRows>) =>
  db
    .insertInto("messages")
    .values(
      given.rows("rows").map((row) => ({
        ...row,
        session_id: given("session_id"),
        checkpointed: 1,
        ts: given("ts"),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["session_id", "seq"]).doUpdateSet((eb) => ({
        ...Object.fromEntries(ALL_MIRROR_COLUMNS.map((name) => [name, eb.ref(`excluded.${name}`)])),
        checkpointed: 1,
      })),
    ),
);

/** Returns the origin of a row that a checkpoint makes: who sent a message of the user that had no row is unknown. */
export function originOf({ role }: Pick<MirrorMessage, "role">): Origin | null {
  return role === "user" ? null : "agent";
}
