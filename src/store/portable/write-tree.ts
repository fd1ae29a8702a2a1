import type { CallFacts } from "../../core/calls.ts";
import { usageOf } from "../../core/cost/model-calls.ts";
import { RepriseError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { MadeCall } from "../../core/sessions.ts";
import { batches } from "../records/threads/bodies.ts";
import { refuseFreeThreadsOf } from "../records/threads/free-threads.ts";
import { addUsage } from "../records/model-calls/store-calls.ts";
import { refreshReady } from "../records/exchanges/ready.ts";
import { shownColumns } from "../records/questions/ask.ts";
import { failureColumns, NO_FAILURE } from "../records/sessions/failures.ts";
import { storeMetadata } from "../records/sessions/labels.ts";
import { fallbackText } from "../records/sessions/model-settings.ts";
import { indexFamily } from "../records/search/forget.ts";
import { lockSession } from "../records/sessions/lock.ts";
import { rootOf } from "../records/sessions/tree-ids.ts";
import type { Operation, Tx } from "../store.ts";
import type { MirrorRow } from "../verify/mirror.ts";
import {
  type PortableChange,
  type PortableExchange,
  type PortableMessage,
  type PortableModelCall,
  type SessionTree,
  sessionsOf,
} from "./export-schema.ts";
import {
  columnsOf,
  EXCHANGE_DEFAULTS,
  MESSAGE_DEFAULTS,
  ORIGIN_DEFAULTS,
  SESSION_DEFAULTS,
} from "./portable-columns.ts";
import { writePortableRun } from "./portable-run.ts";
import { writeSessionThread } from "./write-thread.ts";

export interface WriteSessionTree {
  /** Tree that `parseExport` or `readSessionTree` gave. */
  readonly tree: SessionTree;
}

/**
 * Stores a session with the messages, threads and sub-agents of the tree, all or
 * nothing. Returns their ids, each after its parent's.
 *
 * Error codes: `session_exists`; `session_not_found` and `depth_exceeded` if it is a sub-agent
 * whose parent is missing or not exactly one level above; `internal` if the counters do not fit.
 */
export const writeSessionTree: Operation<WriteSessionTree, readonly string[]> = async (
  tx,
  { tree },
) => {
  await refuseOrphan(tx, tree);
  const { id, parent_session_id } = tree.session;
  const root = parent_session_id === null ? id : await rootOf(tx, parent_session_id);
  // what a file says of the marks of its prefixes counts for nothing
  await writeTree(tx, tree, { root, markOf: newId });
  const ids: string[] = [];
  for (const one of sessionsOf(tree)) {
    await checkCounters(tx, one);
    ids.push(one.session.id);
  }
  return ids;
};

async function refuseOrphan(tx: Tx, { session }: SessionTree): Promise<void> {
  if (session.parent_session_id === null) {
    return;
  }
  await lockSession(tx, session.parent_session_id);
  const parent = await tx.db
    .selectFrom("sessions")
    .select("depth")
    .where("id", "=", session.parent_session_id)
    .executeTakeFirst();
  if (parent === undefined) {
    throw new RepriseError(
      "session_not_found",
      "This is a sub-agent's session, and its parent is not in this database. Import the export of the parent, which includes it.",
    );
  }
  if (parent.depth + 1 !== session.depth) {
    throw new RepriseError(
      "depth_exceeded",
      "This is a sub-agent's session, and its parent in this database is not exactly one level above it. Import it into the database that it was exported from.",
    );
  }
}

/** Facts about the sessions of a tree that no export has. */
export interface TreePlace {
  /** The session at the top of the tree that they belong to. */
  readonly root: string | null;
  /** Returns the `prefix_mark` of a session. */
  readonly markOf: (id: string) => string | null;
}

/**
 * Stores a tree whose parent, if it has one, is there, and below this root. Error codes:
 * `session_exists`.
 */
export async function writeTree(tx: Tx, tree: SessionTree, place: TreePlace): Promise<void> {
  const { id } = tree.session;
  await writeSession(tx, tree, place);
  await refuseFreeThreadsOf(tx, id);
  await writeMessages(tx, tree);
  for (const thread of tree.threads) {
    await writeSessionThread(tx, id, thread);
  }
  await indexFamily(tx, id);
  tx.touch(id);
  for (const child of tree.children) {
    await writeTree(tx, child, place);
  }
}

/** The epoch of the lease of a session that nobody has held. */
const FIRST_EPOCH = 0;

async function writeSession(tx: Tx, tree: SessionTree, { root, markOf }: TreePlace): Promise<void> {
  const {
    changes = [],
    exchanges = [],
    questions = [],
    metadata = {},
    model_calls = [],
    run,
    failure,
    ...session
  } = tree.session;
  const inserted = await tx.db
    .insertInto("sessions")
    .values({
      ...columnsOf(session, SESSION_DEFAULTS),
      fallback: fallbackText(session.fallback ?? null),
      ...(failure === undefined ? NO_FAILURE : failureColumns(failure)),
      root_session_id: root,
      prefix_mark: markOf(session.id),
    })
    // a call has one sub-agent, whatever its id
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) {
    throw new RepriseError(
      "session_exists",
      "A session of this export is in the database already; import it as a copy with --new-ids.",
    );
  }
  await storeMetadata(tx, session.id, metadata);
  await writeChanges(tx, session.id, changes);
  await writeExchanges(tx, session.id, exchanges);
  await writeModelCalls(tx, session.id, model_calls);
  if (run !== undefined) {
    await writePortableRun(tx, session, run);
  }
  const asked = questions.map(({ choices, permission = null, ...question }) => ({
    ...question,
    session_id: session.id,
    ...shownColumns({ choices, permission }),
  }));
  for (const batch of batches(asked)) {
    await tx.db.insertInto("questions").values(batch).execute();
  }
}

async function writeChanges(
  tx: Tx,
  session_id: string,
  changes: readonly PortableChange[],
): Promise<void> {
  const rows = changes.map((change, index) => ({
    ...columnsOf(change, ORIGIN_DEFAULTS),
    session_id,
    number: index + 1,
  }));
  for (const batch of batches(rows)) {
    await tx.db.insertInto("session_changes").values(batch).execute();
  }
}

async function writeExchanges(
  tx: Tx,
  session_id: string,
  exchanges: readonly PortableExchange[],
): Promise<void> {
  const rows = exchanges.map((exchange) => ({
    ...columnsOf(exchange, EXCHANGE_DEFAULTS),
    session_id,
    epoch: exchange.ended_at === null && exchange.state !== "queued" ? FIRST_EPOCH : null,
  }));
  for (const batch of batches(rows)) {
    await tx.db.insertInto("exchanges").values(batch).execute();
  }
  if (rows.length > 0) {
    await refreshReady(tx, session_id);
  }
}

async function writeModelCalls(
  tx: Tx,
  session_id: string,
  calls: readonly PortableModelCall[],
): Promise<void> {
  const rows = calls.map((call, index) => ({
    ...call,
    session_id,
    epoch: FIRST_EPOCH,
    call: index + 1,
  }));
  for (const batch of batches(rows)) {
    await tx.db.insertInto("model_calls").values(batch).execute();
  }
  if (rows.length > 0) {
    await addUsage(tx, session_id, usageOf(calls));
  }
}

async function writeMessages(tx: Tx, { session, messages }: SessionTree): Promise<void> {
  for (const batch of batches(messages)) {
    const rows = batch.map((message) => messageRow(session.id, message));
    await tx.db.insertInto("messages").values(rows).execute();
  }
}

/** A message as its row has it. */
export function messageRow(session_id: string, message: PortableMessage): MirrorRow {
  return {
    ...columnsOf(message, MESSAGE_DEFAULTS),
    session_id,
    tool_calls: message.tool_calls === null ? null : callsText(message.tool_calls),
  };
}

/** As the mirror writes them. */
function callsText(calls: readonly (MadeCall & Partial<CallFacts>)[]): string {
  return JSON.stringify(
    calls.map(({ id, name, args, effect = null, subject = null }) => ({
      id,
      name,
      args,
      effect,
      subject,
    })),
  );
}

/** Checked with a query: the next message continues from the stored counters. */
async function checkCounters(tx: Tx, { session, messages }: SessionTree): Promise<void> {
  const { count, last } = await tx.db
    .selectFrom("messages")
    .select(({ fn }) => [fn.countAll<number>().as("count"), fn.max("seq").as("last")])
    .where("session_id", "=", session.id)
    .executeTakeFirstOrThrow();
  if (count !== messages.length || (last ?? 0) !== session.last_seq) {
    throw new RepriseError(
      "internal",
      "The messages that were stored are not those of the export, so nothing was imported; report it.",
    );
  }
}
