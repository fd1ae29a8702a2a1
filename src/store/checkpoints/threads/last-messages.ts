import { readMessage } from "../../records/messages/message-json.ts";
import { mirrorOf } from "../../records/messages/mirror-row.ts";
import type { MirrorMessage } from "../../records/messages/mirror-message.ts";
import type { Operation, Tx } from "../../store.ts";
import { messageListOf } from "../head-mark.ts";
import { segmentsOf, selectBodies } from "../lists.ts";
import { parseChannels } from "../value.ts";

export interface ReadLastMessages {
  readonly thread_id: string;
  readonly limit: number;
}

/**
 * The last messages of a thread's latest checkpoint, oldest first; those that its program removed
 * are not among them. Reads only these.
 *
 * Error codes: `database_corrupt`.
 */
export const readLastMessages: Operation<ReadLastMessages, readonly MirrorMessage[]> = async (
  tx,
  { thread_id, limit },
) => {
  const messages = (await lastBodies(tx, { thread_id, limit })).flatMap(
    (body) => readMessage(body) ?? [],
  );
  return messages.flatMap((_, index) => mirrorOf(messages, index) ?? []);
};

async function lastBodies(tx: Tx, { thread_id, limit }: ReadLastMessages): Promise<string[]> {
  const latest = await tx.db
    .selectFrom("checkpoints")
    .innerJoin("threads", "threads.id", "checkpoints.thread")
    .select("channels")
    .where("thread_id", "=", thread_id)
    .where("ns", "=", "")
    .orderBy("checkpoints.id", "desc")
    .limit(1)
    .executeTakeFirst();
  const version = latest === undefined ? null : messageListOf(parseChannels(latest.channels));
  if (version === null) {
    return [];
  }
  const { segments } = await segmentsOf(tx, version, new Map());
  const first = version.length - limit;
  const bodies: string[] = [];
  for (const { list, from, to } of segments) {
    if (to > first) {
      const segment = { list, from: Math.max(from, first), to };
      const rows = await selectBodies(tx, segment).select("checkpoint_bodies.body").execute();
      bodies.push(...rows.map(({ body }) => body));
    }
  }
  return bodies;
}
