import type { MirrorMessage } from "../../store/messages/mirror.ts";
import type { MirrorRow } from "../../store/verify/mirror.ts";
import type { CheckpointMessage, CheckpointMessages } from "./checkpoint-messages.ts";

/** Which row of a mirror stands for what. Every row is in one of these, in order of `seq`. */
export interface Match {
  /** Every message of the checkpoints, in their order, with its row; null where it has none. */
  readonly messages: readonly MatchedMessage[];
  /** Rows of messages that the agent has taken out of a thread: the history stays readable. */
  readonly removed: readonly { readonly row: MirrorRow; readonly message: MirrorMessage }[];
  /** User messages that no checkpoint holds, by right. */
  readonly pending: readonly MirrorRow[];
  /** User messages that say a checkpoint holds them, and none does. */
  readonly stray: readonly MirrorRow[];
  /** Rows that nothing explains. */
  readonly extra: readonly MirrorRow[];
  /** What user messages said before the agent changed or removed them. */
  readonly earlierTexts: readonly string[];
  /**
   * False where messages were removed and an answer's provider did not say what it was sent: what
   * stood before the answer then can no longer be told.
   */
  readonly inputIsKnown: boolean;
}

export interface MatchedMessage extends CheckpointMessage {
  readonly row: MirrorRow | null;
}

/** Joins the rows with the messages of the checkpoints, by id. */
export function matchRows(rows: readonly MirrorRow[], truth: CheckpointMessages): Match {
  const byId = new Map(rows.map((row) => [row.message_id, row]));
  const messages = truth.messages.map((one) => ({
    ...one,
    row: byId.get(one.message.message_id) ?? null,
  }));
  const known = new Set(truth.messages.map(({ message }) => message.message_id));
  const removedOnes = createRemoved(truth.removed);
  const removed: Match["removed"][number][] = [];
  const pending: MirrorRow[] = [];
  const stray: MirrorRow[] = [];
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
      (row.role === "user" ? stray : extra).push(row);
    }
  }
  const inputIsKnown = removed.length === 0 || !truth.estimated;
  const earlierTexts = truth.removed
    .filter(({ role }) => role === "user")
    .map(({ content }) => content);
  return { messages, removed, pending, stray, extra, earlierTexts, inputIsKnown };
}

/** What a row has to share with its message. */
export const COMPARED = ["role", "content", "tool_calls", "token_count", "is_summary"] as const;

/** A message in the words of its row. */
export function columnsOf(message: MirrorMessage): Pick<MirrorRow, (typeof COMPARED)[number]> {
  return {
    role: message.role,
    content: message.content,
    tool_calls: message.tool_calls === null ? null : JSON.stringify(message.tool_calls),
    token_count: message.token_count,
    is_summary: message.is_summary ? 1 : 0,
  };
}

/**
 * A message that was removed may have more than one body, one for each edit, and its row may have
 * been given another id when a summary took its own. So a row is looked for by what it says first.
 */
function createRemoved(messages: readonly MirrorMessage[]) {
  const bySaying = new Map<string, MirrorMessage[]>();
  const byId = new Map<string, MirrorMessage>();
  for (const message of messages) {
    const saying = sayingOf(columnsOf(message));
    bySaying.set(saying, [...(bySaying.get(saying) ?? []), message]);
    byId.set(message.message_id, message);
  }
  return {
    take: (row: MirrorRow): MirrorMessage | null => {
      const same = bySaying.get(sayingOf(row)) ?? [];
      const own = same.findIndex(({ message_id }) => message_id === row.message_id);
      const [message] = same.splice(Math.max(own, 0), 1);
      return message ?? byId.get(row.message_id) ?? null;
    },
  };
}

function sayingOf(columns: Pick<MirrorRow, (typeof COMPARED)[number]>): string {
  return JSON.stringify(COMPARED.map((column) => columns[column]));
}
