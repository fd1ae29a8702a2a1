import { RepriseError } from "../../core/errors.ts";
import { type Parameter, prepared } from "../prepared.ts";
import type { Tx } from "../store.ts";
import { textHash } from "../records/threads/bodies.ts";
import type { CheckpointTable } from "../tables/checkpoints.ts";
import { hashesOf } from "./lists.ts";
import { type ListVersion, parseChannels, type StoredChannels } from "./value.ts";

/*
 * Each thread keeps a mark of its latest root checkpoint: the row, how many messages it has and a
 * hash of all that it says. `put` moves it in the checkpoint's own transaction, so a checkpoint
 * that is deleted, shortened or exchanged later no longer fits it.
 */

/** The messages of a checkpoint: how many, and their hashes chained. */
export interface MessageChain {
  readonly length: number;
  readonly hash: string;
}

export const NO_MESSAGES: MessageChain = { length: 0, hash: "" };

/** The chain with one more message, named by the hash of its body. */
export function chained(before: string, bodyHash: string): string {
  return textHash(before + bodyHash);
}

export function chainOf(bodyHashes: readonly string[]): MessageChain {
  return { length: bodyHashes.length, hash: bodyHashes.reduce(chained, NO_MESSAGES.hash) };
}

/** The columns of a checkpoint that no later write changes, as stored. */
export type FixedColumns = Omit<CheckpointTable, "id" | "thread" | "ns" | "parent_id">;

/**
 * Computes what the mark's hash has to be for a checkpoint of this thread: the hash of its columns, then the chain,
 * which is continued without the messages that it was made of.
 */
export function markHash(
  thread_id: string,
  { chain, columns }: { readonly chain: MessageChain; readonly columns: FixedColumns },
): string {
  const { checkpoint_id, ts, shape, versions, channels, metadata } = columns;
  const fields = [chain.hash, checkpoint_id, ts, shape, versions, channels, metadata];
  return textHash(JSON.stringify([thread_id, ...fields])) + chain.hash;
}

/** Characters of a mark before its chain. */
const BEFORE_CHAIN = textHash("").length;

/** The chain in a thread's mark; null if the mark is that of another checkpoint. */
export function chainInMark(head: {
  readonly row: number;
  readonly head_row: number;
  readonly head_length: number;
  readonly head_hash: string;
}): MessageChain | null {
  const { row, head_row, head_length: length, head_hash } = head;
  return row === head_row ? { length, hash: head_hash.slice(BEFORE_CHAIN) } : null;
}

interface HeadMark {
  readonly thread: number;
  readonly row: number;
  readonly length: number;
  readonly hash: string;
}

/** Moves a thread's mark to a root checkpoint, unless a later one has it. */
export async function markHead(tx: Tx, mark: HeadMark): Promise<void> {
  await tx.rows(moveMark, mark);
}

const moveMark = prepared(({ db }, given: Parameter<HeadMark>) =>
  db
    .updateTable("threads")
    .set({ head_row: given("row"), head_length: given("length"), head_hash: given("hash") })
    .where("id", "=", given("thread"))
    .where("head_row", "<=", given("row")),
);

/** The channel whose messages the mirror shows and the mark keeps. */
export const MESSAGES = "messages";

/** The messages of a checkpoint; null if its channel holds no list of them. */
export function messageListOf(channels: StoredChannels): ListVersion | null {
  const value = channels[MESSAGES];
  return value !== undefined && "l" in value ? { list: value.l[0], length: value.l[1] } : null;
}

/** The chain of a checkpoint's messages, from the hashes of all of them. */
export async function storedChain(tx: Tx, channels: string): Promise<MessageChain> {
  const messages = messageListOf(parseChannels(channels));
  return chainOf(messages === null ? [] : await hashesOf(tx, messages));
}

export interface LatestHead {
  readonly row: number;
  readonly head_row: number;
  readonly head_length: number;
  readonly channels: StoredChannels;
}

/**
 * Refuses to take a checkpoint for the latest of its thread if another one is marked, or if it has
 * lost messages: the agent would continue without them. Error codes: `database_corrupt`.
 */
export function refuseEarlierHead({ row, head_row, head_length, channels }: LatestHead): void {
  const length = messageListOf(channels)?.length ?? 0;
  if (row !== head_row || length !== head_length) {
    throw lostHead();
  }
}

/** Refuses to take a thread for a new one whose checkpoints are gone. As `refuseEarlierHead`. */
export async function refuseLostHead(tx: Tx, threadId: string): Promise<void> {
  const thread = await tx.db
    .selectFrom("threads")
    .select("head_row")
    .where("thread_id", "=", threadId)
    .executeTakeFirst();
  if ((thread?.head_row ?? 0) > 0) {
    throw lostHead();
  }
}

function lostHead(): RepriseError {
  return new RepriseError(
    "database_corrupt",
    "The latest checkpoint of this session is missing or incomplete in the database. Restore a backup, or continue in a new session.",
  );
}
