import {
  MIRROR_COLUMNS,
  type MirrorMessage,
  mirrorColumns,
} from "../records/messages/mirror-message.ts";
import type { CheckpointMessages } from "./checkpoint-messages.ts";
import type { MirrorRow, MirrorState } from "./mirror.ts";
import { isRearranged, type MatchedMessage } from "./order.ts";

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
  /** Texts of user messages before the agent changed or removed them. */
  readonly earlierTexts: readonly string[];
  /** Ids of messages that the agent has changed, and that were not always the user's. */
  readonly onceOthers: ReadonlySet<string>;
  /**
   * False if messages were, or may have been, removed, changed or rearranged and an answer's provider
   * did not report its input tokens: what came before that answer is no longer known. Or if a changed
   * message was an answer that was charged otherwise.
   */
  readonly inputIsKnown: boolean;
  readonly outputIsKnown: boolean;
}

/** Joins the rows with the messages of the checkpoints, by id. */
export function matchRows(
  { rows, agent }: Pick<MirrorState, "rows" | "agent">,
  checkpoints: CheckpointMessages,
): Match {
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
  const earlier = Object.groupBy(checkpoints.removed, ({ role }) =>
    role === "user" ? "users" : "others",
  );
  return {
    messages,
    removed,
    pending,
    misflagged,
    extra,
    earlierTexts: (earlier.users ?? []).map(({ content }) => content),
    onceOthers: new Set((earlier.others ?? []).map(({ message_id }) => message_id)),
    ...knownCharges(checkpoints, { messages, removed, agent }),
  };
}

/** An answer is charged once, as it is when it is stored: later changes of it are free. */
function knownCharges(
  { removed: versions, estimated }: CheckpointMessages,
  { messages, removed, agent }: Pick<Match, "messages" | "removed"> & Pick<MirrorState, "agent">,
): Pick<Match, "inputIsKnown" | "outputIsKnown"> {
  // a summary has a separate row, and the message whose id it took is a removed one
  const charged = [...removed, ...messages].filter(({ message }) => !message.is_summary);
  const byId = new Map(charged.map(({ message }) => [message.message_id, message]));
  const changes = versions.flatMap((before) => {
    const now = byId.get(before.message_id);
    return now === undefined || now === before ? [] : [{ before, now }];
  });
  const isSame = (count: Count) => changes.every((change) => isChargedOnce(change, count));
  // an order that another agent's graph has changed may be right again
  const isAsSent =
    agent === null && removed.length + changes.length === 0 && !isRearranged(messages);
  return {
    inputIsKnown: estimated ? isAsSent : isSame("input_tokens"),
    outputIsKnown: isSame("output_tokens"),
  };
}

type Count = keyof NonNullable<MirrorMessage["usage"]>;

/** Whether what the row says now is what was charged for the message, whichever version came first. */
function isChargedOnce(
  { before, now }: Readonly<Record<"before" | "now", MirrorMessage>>,
  count: Count,
): boolean {
  const isPartial = before.usage?.output_tokens === 0 && before.content !== "";
  return isPartial && before.content !== now.content
    ? // the whole answer was charged in the place of what had arrived of it
      before.usage[count] === 0
    : before.usage?.[count] === now.usage?.[count];
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
