import { MIRROR_COLUMNS, type MirrorMessage, mirrorColumns } from "../messages/mirror.ts";
import type { CheckpointMessage, CheckpointMessages } from "./checkpoint-messages.ts";
import type { MirrorRow } from "./mirror.ts";

/**
 * Which row of a mirror belongs to which message. Every row is in one of these, in order of `seq`.
 */
export interface Match {
  /** Every message of the checkpoints, in their order, with its row; null if it has none. */
  readonly messages: readonly MatchedMessage[];
  /** Rows of messages that the agent has taken out of a thread: the history stays readable. */
  readonly removed: readonly { readonly row: MirrorRow; readonly message: MirrorMessage }[];
  /** User messages that no checkpoint holds, by right. */
  readonly pending: readonly MirrorRow[];
  /** User messages that say a checkpoint holds them, and none does. */
  readonly misflagged: readonly MirrorRow[];
  /** Rows that nothing explains. */
  readonly extra: readonly MirrorRow[];
  /** What user messages said before the agent changed or removed them. */
  readonly earlierTexts: readonly string[];
  /**
   * False if messages were removed or changed and an answer's provider did not report its input
   * tokens: what came before that answer is no longer known. Or if a changed message was an answer
   * that was charged otherwise.
   */
  readonly inputIsKnown: boolean;
  readonly outputIsKnown: boolean;
}

export interface MatchedMessage extends CheckpointMessage {
  readonly row: MirrorRow | null;
}

/** Joins the rows with the messages of the checkpoints, by id. */
export function matchRows(rows: readonly MirrorRow[], checkpoints: CheckpointMessages): Match {
  const byId = new Map(rows.map((row) => [row.message_id, row]));
  const messages = checkpoints.messages.map((one) => ({
    ...one,
    row: byId.get(one.message.message_id) ?? null,
  }));
  const known = new Set(checkpoints.messages.map(({ message }) => message.message_id));
  const removedOnes = createRemoved(checkpoints.removed);
  const removed: Match["removed"][number][] = [];
  const pending: MirrorRow[] = [];
  const misflagged: MirrorRow[] = [];
  const extra: MirrorRow[] = [];
  for (const row of rows) {
    if (known.has(row.message_id)) {
      continue;
    }
    if (row.role === "user" && row.checkpointed === 0) {
      pending.push(row);
      continue;
    }
    const message = removedOnes.take(row);
    if (message !== null) {
      removed.push({ row, message });
    } else {
      (row.role === "user" ? misflagged : extra).push(row);
    }
  }
  const charges = knownCharges(checkpoints, removed.length > 0);
  const earlierTexts = checkpoints.removed
    .filter(({ role }) => role === "user")
    .map(({ content }) => content);
  return { messages, removed, pending, misflagged, extra, earlierTexts, ...charges };
}

/** An answer is charged once, as it is when it is stored: later changes of it are free. */
function knownCharges(
  { messages, removed, estimated }: CheckpointMessages,
  isAnyRemoved: boolean,
): Pick<Match, "inputIsKnown" | "outputIsKnown"> {
  const present = new Map(messages.map(({ message }) => [message.message_id, message]));
  const changes = removed.flatMap((before) => {
    const now = present.get(before.message_id);
    // a summary has a separate row; what had arrived of an answer was not charged
    return now === undefined || now.is_summary || isUncharged(before) ? [] : [{ before, now }];
  });
  const isSame = (count: "input_tokens" | "output_tokens") =>
    changes.every(({ before, now }) => before.usage?.[count] === now.usage?.[count]);
  const isChanged = isAnyRemoved || changes.length > 0;
  return {
    inputIsKnown: estimated ? !isChanged : isSame("input_tokens"),
    outputIsKnown: isSame("output_tokens"),
  };
}

function isUncharged({ usage }: MirrorMessage): boolean {
  return usage !== null && usage.input_tokens === 0 && usage.output_tokens === 0;
}

/**
 * A message that was removed may have more than one body, one for each edit, and its row may have
 * been given another id when a summary took its own. So a row is first matched by its content.
 */
function createRemoved(messages: readonly MirrorMessage[]) {
  const byContent = new Map<string, MirrorMessage[]>();
  const byId = new Map<string, MirrorMessage>();
  for (const message of messages) {
    const key = contentKey(mirrorColumns(message));
    byContent.set(key, [...(byContent.get(key) ?? []), message]);
    byId.set(message.message_id, message);
  }
  return {
    take: (row: MirrorRow): MirrorMessage | null => {
      const same = byContent.get(contentKey(row)) ?? [];
      const own = same.findIndex(({ message_id }) => message_id === row.message_id);
      const [message] = same.splice(Math.max(own, 0), 1);
      return message ?? byId.get(row.message_id) ?? null;
    },
  };
}

function contentKey(columns: Pick<MirrorRow, (typeof MIRROR_COLUMNS)[number]>): string {
  return JSON.stringify(MIRROR_COLUMNS.map((column) => columns[column]));
}

/*
 * A user message may have been appended through the API while an exchange was running: its row then
 * comes before the answer's, and in the checkpoint it comes after. So two rows may be in the
 * opposite order only if the first message is not the user's and the second is. A summary's row is
 * at the position where the summary was made, whatever the summary replaces in the thread. A
 * message that came without authentication is handed over once somebody has accepted it, however
 * late that is.
 */

/** Rows that come before one that they have to follow, ascending in the checkpoints' order. */
export function misplacedRows(messages: readonly MatchedMessage[]): MirrorRow[] {
  const misplaced: MirrorRow[] = [];
  let lastUser = 0;
  let last = 0;
  for (const { row, message } of messages) {
    if (row === null || isFree({ row, message })) {
      continue;
    }
    const isUser = message.role === "user";
    if (row.seq < (isUser ? lastUser : last)) {
      misplaced.push(row);
    }
    last = Math.max(last, row.seq);
    lastUser = isUser ? Math.max(lastUser, row.seq) : lastUser;
  }
  return misplaced;
}

/**
 * The messages of the checkpoints in the order that their rows need: the order of the rows if that
 * is right, with the missing ones between them, else the order of the checkpoints.
 */
export function orderedMessages(messages: readonly MatchedMessage[]): MatchedMessage[] {
  if (misplacedRows(messages).length > 0) {
    return [...messages];
  }
  const present = messages.filter((one) => one.row !== null).sort((a, b) => seqOf(a) - seqOf(b));
  const gaps = gapsOf(messages, new Map(present.map((one, index) => [one, index])));
  const ordered: MatchedMessage[] = [...(gaps.get(-1) ?? [])];
  for (const [index, one] of present.entries()) {
    ordered.push(one, ...(gaps.get(index) ?? []));
  }
  return ordered;
}

/**
 * The missing messages by the row that they follow, -1 for none. A message of the user goes before
 * everything that has to follow it, any other after everything that it has to follow.
 */
function gapsOf(
  messages: readonly MatchedMessage[],
  indexes: ReadonlyMap<MatchedMessage, number>,
): Map<number, MatchedMessage[]> {
  const nextPresent = earliestAfter(messages, indexes);
  const gaps = new Map<number, MatchedMessage[]>();
  let last = -1;
  for (const [index, one] of messages.entries()) {
    const present = indexes.get(one);
    if (present !== undefined) {
      last = isFree(one) ? last : Math.max(last, present);
      continue;
    }
    const before = (nextPresent[index] ?? indexes.size) - 1;
    const gap = one.message.role === "user" ? Math.min(last, before) : last;
    const others = gaps.get(gap);
    if (others === undefined) {
      gaps.set(gap, [one]);
    } else {
      others.push(one);
    }
  }
  return gaps;
}

/** For each message, the first position of the row of a later one. */
function earliestAfter(
  messages: readonly MatchedMessage[],
  indexes: ReadonlyMap<MatchedMessage, number>,
): number[] {
  const earliest: number[] = [];
  let first = indexes.size;
  for (const one of messages.toReversed()) {
    earliest.push(first);
    first = isFree(one) ? first : Math.min(first, indexes.get(one) ?? first);
  }
  return earliest.reverse();
}

/** Whether the row may be anywhere, whatever the thread's order is. */
export function isFree({ row, message }: Pick<MatchedMessage, "row" | "message">): boolean {
  return message.is_summary || row?.authenticated === 0;
}

function seqOf({ row }: MatchedMessage): number {
  return row?.seq ?? 0;
}
