import { hash } from "node:crypto";

import { sql } from "kysely";

import {
  documentNumber,
  comparedText,
  searchedLabels,
  searchedText,
  searchRank,
} from "../../../core/search/search.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { batches } from "../threads/bodies.ts";
import { holdIndex } from "./forget.ts";
import { nextMessages } from "./next-messages.ts";
import { type Unnumbered, withNumbers } from "./document-numbers.ts";

export interface IndexStep {
  /** Messages that were indexed. */
  readonly messages: number;
  /** When the session that is indexed next was last used; null if all are in the index. */
  readonly next: string | null;
}

/**
 * Indexes the next messages that are not in the index, or nothing if all are. A step is a transaction: a process that is
 * killed leaves the index of a step before. Error codes: none.
 */
export const indexStep: Operation<null, IndexStep> = async (tx) => {
  await holdIndex(tx);
  const state = await readState(tx);
  const session = await nextSession(tx, state.changed);
  const messages = session === undefined ? 0 : await indexNext(tx, session);
  const next = session === undefined ? undefined : await nextSession(tx, session.changed);
  await setPosition(tx, state, Math.min(next?.changed ?? state.stable, state.stable));
  return { messages, next: next?.last_activity_at ?? null };
};

async function indexNext(tx: Tx, session: ListedSession): Promise<number> {
  if (session.indexed_seq !== null) {
    return indexSession(tx, session);
  }
  const { id: session_id } = session;
  // who holds it may wait for the index, which the next step lets go first
  const free = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", session_id)
    .modifyEnd(tx.dialect.forUpdateOfFree)
    .executeTakeFirst();
  if (free !== undefined) {
    // a writer that changes a message waits for its mark from the next step on
    await tx.db
      .insertInto("search_marks")
      .values({ session_id, indexed_seq: 0, changed: 0, labels: "" })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return 0;
}

interface IndexState {
  /** Every session whose last change has a lower number is in the index. */
  readonly changed: number;
  readonly stored: { readonly changed: number; readonly server: string };
  readonly server: string;
  readonly stable: number;
  readonly unmerged: number;
}

async function readState(tx: Tx): Promise<IndexState> {
  const [row] = await tx.rows(stateRow, {});
  if (row === undefined) {
    throw new Error("search_state has a row");
  }
  const { changed, server, stable, now, unmerged } = row;
  const stored = { changed, server };
  return { changed: server === now ? changed : 0, stored, server: now, stable, unmerged };
}

const stateRow = prepared(({ db, dialect }) =>
  db
    .selectFrom("search_state")
    .innerJoin("change_position", (join) => join.onTrue())
    .select([
      "search_state.changed",
      "search_state.server",
      "unmerged",
      "stable",
      dialect.search.server.as("now"),
    ]),
);

async function setPosition(
  { db }: Tx,
  { server, stored }: IndexState,
  changed: number,
): Promise<void> {
  if (stored.changed !== changed || stored.server !== server) {
    await db.updateTable("search_state").set({ server, changed }).execute();
  }
}

/**
 * A value: when a session was last used that may not be in the index, because it changed since; null for none.
 */
export function changedSince(parts: QueryParts) {
  return parts.db
    .selectFrom("sessions as changed_session")
    .select("changed_session.last_activity_at")
    .where("changed_session.changed", ">=", positionIn(parts))
    .where("changed_session.changed", ">", sql.lit(0))
    .orderBy("changed_session.changed")
    .limit(sql.lit(1))
    .$asScalar();
}

/** A value: every session whose last change has a lower number is in the index. */
function positionIn({ db, dialect }: QueryParts) {
  const { server } = dialect.search;
  return db
    .selectFrom("search_state as position")
    .select((eb) => [
      eb
        .case()
        .when("position.server", "=", server)
        .then(eb.ref("position.changed"))
        .else(0)
        .end()
        .as("changed"),
    ])
    .$asScalar();
}

async function nextSession(tx: Tx, changed: number) {
  const [session] = await tx.rows(unindexedSession, { changed });
  return session;
}

const unindexedSession = prepared(({ db }, given: Parameter<{ readonly changed: number }>) =>
  db
    .selectFrom("sessions")
    .leftJoin("search_marks", "search_marks.session_id", "sessions.id")
    .select([
      "sessions.id",
      "sessions.changed",
      "sessions.last_seq",
      "sessions.name",
      "sessions.title",
      "sessions.last_activity_at",
      "search_marks.indexed_seq",
    ])
    // null if a filter of a search could leave out the origin alone
    .select("sessions.forked_from_seq")
    .select(({ selectFrom }) =>
      selectFrom("sessions as origin")
        .select("origin.id")
        .whereRef("origin.id", "=", "sessions.forked_from_session_id")
        .whereRef("origin.project_key", "is not distinct from", "sessions.project_key")
        .where(({ or, eb }) =>
          or([eb("origin.archived_at", "is", null), eb("sessions.archived_at", "is not", null)]),
        )
        .as("origin"),
    )
    // SQLite takes the first lower bound as the place where it begins to read
    .where("sessions.changed", ">=", given("changed"))
    // a literal, as in the condition of the index
    .where("sessions.changed", ">", sql.lit(0))
    .where(({ or, eb, ref }) =>
      or([
        eb("search_marks.session_id", "is", null),
        eb("search_marks.changed", "<>", ref("sessions.changed")),
        eb("search_marks.indexed_seq", "<", ref("sessions.last_seq")),
      ]),
    )
    .orderBy("sessions.changed")
    .orderBy("sessions.id")
    .limit(1),
);

type ListedSession = NonNullable<Awaited<ReturnType<typeof nextSession>>>;

/** Indexes messages of a session from its mark on; the mark is held, so that a writer that sets it back comes after. */
async function indexSession(tx: Tx, session: ListedSession): Promise<number> {
  const { id: session_id } = session;
  const mark = await tx.db
    .selectFrom("search_marks")
    .select(["indexed_seq", "labels"])
    .where("session_id", "=", session_id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (mark === undefined) {
    return 0;
  }
  const { messages, indexed_seq, more } = await nextMessages(tx, session, mark.indexed_seq);
  await tx.db
    .deleteFrom("search_documents")
    .where("session_id", "=", session_id)
    .where("seq", ">", mark.indexed_seq)
    .execute();
  const documents = messages.map(({ seq, role, ts, ...message }) => ({
    seq,
    wanted: documentNumber(searchRank(role), ts),
    text: comparedText(searchedText(message)),
  }));
  const labels = searchedLabels(session.name, session.title);
  const hashed = labels === "" ? "" : hash("sha256", labels, "base64url");
  if (hashed !== mark.labels) {
    await tx.db
      .deleteFrom("search_documents")
      .where("session_id", "=", session_id)
      .where("seq", "=", 0)
      .execute();
    const wanted = documentNumber(searchRank(null), session.last_activity_at);
    documents.push({ seq: 0, wanted, text: comparedText(labels) });
  }
  await storeDocuments(
    tx,
    session_id,
    documents.filter(({ text }) => text !== ""),
  );
  await tx.db
    .updateTable("search_marks")
    .set({ indexed_seq, labels: hashed, ...(more ? {} : { changed: session.changed }) })
    .where("session_id", "=", session_id)
    .execute();
  return messages.length;
}

interface NewDocument extends Unnumbered {
  readonly text: string;
}

async function storeDocuments(
  tx: Tx,
  session_id: string,
  documents: readonly NewDocument[],
): Promise<void> {
  const sorted = documents.toSorted((a, b) => a.wanted - b.wanted || a.seq - b.seq);
  const numbered = await withNumbers(tx, sorted);
  for (const batch of batches(numbered)) {
    await tx.dialect.search.store(
      tx.db,
      batch.map(({ id, seq, text }) => ({ id, session_id, seq, text })),
    );
  }
}
