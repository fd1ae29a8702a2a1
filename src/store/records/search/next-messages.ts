import type { Tx } from "../../store.ts";
import { messageBytes, rowsThatFit } from "../messages/stream-page.ts";

/** Messages of one step at most, and bytes of their texts. */
const STEP_MESSAGES = 200;
const STEP_BYTES = 512 * 1024;
/** Messages of a fork that one step compares with those of its origin. */
const STEP_COMPARED = 2000;

interface IndexedSession {
  readonly id: string;
  readonly last_seq: number;
  readonly forked_from_seq: number | null;
  /** Null if a filter of a search could leave out the origin alone. */
  readonly origin: string | null;
}

/** The next messages of a session to index, the position up to which they are all, and whether more follow. */
export async function nextMessages(tx: Tx, session: IndexedSession, after: number) {
  const { db } = tx;
  const { id, last_seq, forked_from_seq } = session;
  const origin = after < (forked_from_seq ?? 0) ? await searchedOrigin(tx, session) : null;
  const shared = origin === null ? 0 : (forked_from_seq ?? 0);
  const compared = after < shared ? Math.min(shared, after + STEP_COMPARED) : null;
  const later = db
    .selectFrom("messages")
    .where("session_id", "=", id)
    .where("seq", ">", after)
    .$if(compared !== null, (query) =>
      query.where("seq", "<=", compared).where(({ not, exists, selectFrom }) =>
        not(
          exists(
            // a search finds it in place of the fork's, whatever its words and filters
            selectFrom("messages as shown")
              .select("shown.seq")
              .where("shown.session_id", "=", origin)
              .whereRef("shown.seq", "=", "messages.seq")
              .whereRef("shown.archived", "<=", "messages.archived")
              .whereRef("shown.role", "=", "messages.role")
              .whereRef("shown.ts", "=", "messages.ts")
              .whereRef("shown.content", "=", "messages.content")
              .whereRef("shown.tool_calls", "is not distinct from", "messages.tool_calls"),
          ),
        ),
      ),
    )
    .orderBy("seq");
  const sizes = await later
    .select(["seq", messageBytes()])
    .limit(STEP_MESSAGES + 1)
    .execute();
  const fitting = rowsThatFit(
    sizes.map(({ bytes }) => bytes),
    { max_rows: STEP_MESSAGES, max_bytes: STEP_BYTES },
  );
  const messages = await later
    .select(["seq", "role", "ts", "content", "tool_calls"])
    .limit(fitting)
    .execute();
  const last = messages.at(-1)?.seq ?? after;
  if (fitting < sizes.length) {
    return { messages, indexed_seq: last, more: true };
  }
  const indexed_seq = compared ?? Math.max(last_seq, last);
  return { messages, indexed_seq, more: indexed_seq < last_seq };
}

/** The origin in which messages are found, unless that is a fork of this session: each would leave them to the other. */
async function searchedOrigin(
  { db }: Tx,
  { id, origin }: Pick<IndexedSession, "id" | "origin">,
): Promise<string | null> {
  const origins = new Set<string>();
  for (let next = origin; next !== null && !origins.has(next);) {
    origins.add(next);
    const session = await db
      .selectFrom("sessions")
      .select("forked_from_session_id")
      .where("id", "=", next)
      .executeTakeFirst();
    next = session?.forked_from_session_id ?? null;
  }
  return origins.has(id) ? null : origin;
}
