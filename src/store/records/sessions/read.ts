import { RepriseError } from "../../../core/errors.ts";
import { parseSessionReference } from "../../../core/ids.ts";
import { ID_PREFIX_LENGTH } from "../../../core/limits.ts";
import type { Session } from "../../../core/sessions.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { selectSessions, sessionOf } from "./rows.ts";

/** The session with exactly this id. Error codes: `session_not_found`. */
export const readSession: Operation<{ readonly id: string }, Session> = async (tx, { id }) => {
  const [row] = await tx.rows(sessionById, { id });
  if (row === undefined) {
    throw sessionNotFound();
  }
  return sessionOf(row);
};

const sessionById = prepared((parts, given: Parameter<{ id: string }>) =>
  selectSessions(parts).where("id", "=", given("id")),
);

/**
 * The session that a person or program means: by its exact id, or by the first 6 or more
 * characters of it. Never falls through to another session.
 *
 * Error codes: `session_not_found`; `ambiguous_id` with the candidates, latest activity first.
 */
export const resolveSession: Operation<{ readonly reference: string }, Session> = async (
  tx,
  { reference },
) => {
  const parsed = parseSessionReference(reference);
  switch (parsed.kind) {
    case "id":
      return readSession(tx, { id: parsed.id });
    case "prefix":
      return readByPrefix(tx, parsed.prefix);
    case "short":
      throw new RepriseError(
        "session_not_found",
        `An id needs at least its first ${ID_PREFIX_LENGTH} characters; list the sessions to see their ids.`,
      );
    case "none":
      throw sessionNotFound();
  }
};

/** Candidates that an ambiguous id names in its error; more would not help anyone to choose. */
const CANDIDATES_SHOWN = 10;

async function readByPrefix(tx: Tx, prefix: string): Promise<Session> {
  // an id holds 0-9, a-f and "-": "g" sorts after whatever may follow the prefix
  const rows = await selectSessions(tx)
    .select("last_activity_at")
    .where("id", ">=", prefix)
    .where("id", "<", `${prefix}g`)
    .orderBy("last_activity_at", "desc")
    .limit(CANDIDATES_SHOWN + 1)
    .execute();
  const [only] = rows;
  if (only === undefined) {
    throw sessionNotFound();
  }
  if (rows.length > 1) {
    throw new RepriseError(
      "ambiguous_id",
      rows.length > CANDIDATES_SHOWN
        ? `More than ${CANDIDATES_SHOWN} sessions begin with this id; give more characters of it.`
        : `${rows.length} sessions begin with this id; give more characters of it.`,
      {
        candidates: rows.slice(0, CANDIDATES_SHOWN).map(({ id, title, last_activity_at }) => ({
          id,
          title,
          last_activity_at,
        })),
      },
    );
  }
  const { last_activity_at: _, ...row } = only;
  return sessionOf(row);
}

export function sessionNotFound(): RepriseError {
  return new RepriseError(
    "session_not_found",
    "No session has this id; list the sessions to see their ids.",
  );
}
