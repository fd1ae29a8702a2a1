import { createHash } from "node:crypto";

import { isFinal } from "../../../core/exchanges.ts";
import { type SessionTree, sessionsOf } from "../export-schema.ts";

/** How one of two histories of a session continues the other. */
export type Order = "same" | "first" | "second" | "apart";

/**
 * Compares two histories of a session with its sub-agents by the ids of their messages: `first` if the first one has
 * all of the second and more, `apart` if each has a message that the other has not. Histories with the same messages
 * are ordered by what else was done: the end, threads, cleared messages, changes, exchanges, answers, checkpoints.
 */
export function compareTrees(first: SessionTree, second: SessionTree): Order {
  const has = isPartOf(second, first);
  const isIn = isPartOf(first, second);
  if (has && isIn) {
    const order = compareRanks(ranksOf(first), ranksOf(second));
    const isSame = order === 0 && historyHash(first) === historyHash(second);
    return isSame ? "same" : order === 0 ? "apart" : order > 0 ? "first" : "second";
  }
  return has ? "first" : isIn ? "second" : "apart";
}

/** True if the first of two histories that are apart was used last: the same answer in every database. */
export function isLater(first: SessionTree, second: SessionTree): boolean {
  const [one, other] = [first, second].map(
    (tree) =>
      `${tree.session.last_message_at ?? tree.session.created_at} ${tree.messages.at(-1)?.message_id ?? ""} ${historyHash(tree)}`,
  );
  return (one ?? "") > (other ?? "");
}

/** How many messages at the beginning of two lists are the same ones. */
export function commonLength(
  { messages }: Pick<SessionTree, "messages">,
  other: Pick<SessionTree, "messages">,
): number {
  const at = messages.findIndex(
    ({ message_id }, index) => other.messages[index]?.message_id !== message_id,
  );
  return at === -1 ? messages.length : at;
}

/** True if a history has all sessions and messages of another one. */
export function isPartOf(part: SessionTree, whole: SessionTree): boolean {
  const lists = new Map([...sessionsOf(whole)].map((tree) => [tree.session.id, tree] as const));
  return [...sessionsOf(part)].every((tree) => {
    const other = lists.get(tree.session.id);
    return other !== undefined && commonLength(tree, other) === tree.messages.length;
  });
}

/** The SHA-256 of what was written in a session and its sub-agents, in hexadecimal digits. */
export function historyHash(tree: SessionTree): string {
  const hash = createHash("sha256");
  for (const { session, messages } of sessionsOf(tree)) {
    hash.update(`${session.id}\n`);
    for (const { message_id, role, content } of messages) {
      hash.update(JSON.stringify([message_id, role, content]));
    }
  }
  return hash.digest("hex");
}

type Rank = string | number;

function ranksOf(tree: SessionTree): readonly Rank[] {
  return [...sessionsOf(tree)]
    .toSorted((a, b) => (a.session.id < b.session.id ? -1 : 1))
    .flatMap(({ session, threads }) => [
      session.state === "ended" ? 1 : 0,
      session.thread_suffix,
      session.cleared_seq,
      session.changes?.length ?? 0,
      session.exchange_count ?? 0,
      session.exchanges?.filter(({ state }) => isFinal(state)).length ?? 0,
      session.questions?.filter(({ state }) => state !== "open").length ?? 0,
      // ids of checkpoints ascend with the time at which they were made
      threads.at(-1)?.checkpoints.at(-1)?.checkpoint_id ?? "",
    ]);
}

function compareRanks(first: readonly Rank[], second: readonly Rank[]): number {
  const at = first.findIndex((rank, index) => rank !== second[index]);
  return at === -1 ? 0 : (first[at] ?? 0) > (second[at] ?? 0) ? 1 : -1;
}
