import { sql } from "kysely";

import type { Session } from "../../../../core/sessions.ts";
import type { Operation, Tx } from "../../../store.ts";
import { batches } from "../../threads/bodies.ts";
import { sessionNotFound } from "../read.ts";
import { selectSessions, sessionOf } from "../rows.ts";

/** A session in the tree of an origin, its forks and their sub-agents. */
export interface TreeMember {
  readonly session: Session;
  /** The session that it is drawn below; null at the top. */
  readonly above: string | null;
  /** How many sessions are above it. */
  readonly level: number;
  /** The last message that a fork has of its origin; null for other sessions. */
  readonly forked_at: number | null;
  /** The beginning of the first message that a person sent in a fork; null for none, and for other sessions. */
  readonly began_with: string | null;
}

/**
 * Reads the whole tree that a session belongs to: the top, then all below it, each after the one that it is drawn
 * below, in the order of creation. A fork without its origin is a top. Error codes: `session_not_found`.
 */
export const readFamilyTree: Operation<{ readonly id: string }, readonly TreeMember[]> = async (
  tx,
  { id },
) => {
  const top = await topOf(tx, id);
  const found = new Map<string, Placed>();
  for (let ids: readonly string[] = [top]; ids.length > 0;) {
    const rows = await readPlaced(tx, ids);
    rows.forEach((row) => found.set(row.session.id, row));
    ids = (await idsBelow(tx, ids)).filter((each) => !found.has(each));
  }
  if (found.size === 0) {
    throw sessionNotFound();
  }
  return inOrder(found, top);
};

/** A session that a fork began from, which may be deleted by now, and its last message that the fork has. */
export interface Origin {
  readonly session_id: string;
  readonly seq: number;
}

/** The origins of those of these sessions that are forks, by their ids. */
export const readOrigins: Operation<
  { readonly ids: readonly string[] },
  ReadonlyMap<string, Origin>
> = async ({ db }, { ids }) => {
  const origins = new Map<string, Origin>();
  for (const batch of batches(ids)) {
    const rows = await db
      .selectFrom("sessions")
      .select(["id", "forked_from_session_id as session_id", "forked_from_seq as seq"])
      .where("id", "in", batch)
      .execute();
    for (const { id, session_id, seq } of rows) {
      if (session_id !== null && seq !== null) {
        origins.set(id, { session_id, seq });
      }
    }
  }
  return origins;
};

export interface ListedTrees {
  /** Latest activity first. */
  readonly trees: readonly (readonly TreeMember[])[];
  readonly more: boolean;
}

/** Sessions that are read at a time. */
const PAGE = 100;

/** The trees with more than one session in which a session of a folder is that is not archived. */
export const listFamilyTrees: Operation<
  { readonly project_key: string; readonly limit: number },
  ListedTrees
> = async (tx, { project_key, limit }) => {
  const tops = new Set<string>();
  let after: CandidatePosition | null = null;
  do {
    const page: readonly CandidatePosition[] = await candidates(tx, project_key, after);
    for (const { id } of page) {
      tops.add(await topOf(tx, id));
      if (tops.size > limit) {
        break;
      }
    }
    after = page.length < PAGE || tops.size > limit ? null : (page.at(-1) ?? null);
  } while (after !== null);
  const trees: (readonly TreeMember[])[] = [];
  for (const id of [...tops].slice(0, limit)) {
    trees.push(await readFamilyTree(tx, { id }));
  }
  return { trees, more: tops.size > limit };
};

interface CandidatePosition {
  readonly id: string;
  readonly last_activity_at: string;
}

/** Sessions of a folder with sub-agents, with forks, or with an origin. */
function candidates(
  { db }: Tx,
  project_key: string,
  after: CandidatePosition | null,
): Promise<readonly CandidatePosition[]> {
  const query = db
    .selectFrom("sessions")
    .select(["id", "last_activity_at"])
    .where("project_key", "=", project_key)
    .where("parent_session_id", "is", null)
    .where("archived_at", "is", null)
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(
          selectFrom("sessions as child")
            .select(sql.lit(1).as("one"))
            .whereRef("child.parent_session_id", "=", "sessions.id"),
        ),
        exists(
          selectFrom("sessions as fork")
            .select(sql.lit(1).as("one"))
            .whereRef("fork.forked_from_session_id", "=", "sessions.id"),
        ),
        exists(
          selectFrom("sessions as origin")
            .select(sql.lit(1).as("one"))
            .whereRef("origin.id", "=", "sessions.forked_from_session_id"),
        ),
      ]),
    )
    .orderBy("last_activity_at", "desc")
    .orderBy("id", "desc")
    .limit(PAGE);
  const page =
    after === null
      ? query
      : query.where(({ eb, or, and }) =>
          or([
            eb("last_activity_at", "<", after.last_activity_at),
            and([eb("last_activity_at", "=", after.last_activity_at), eb("id", "<", after.id)]),
          ]),
        );
  return page.execute();
}

/** The session from which all others of its tree began, as far as they are there. */
async function topOf({ db }: Tx, id: string): Promise<string> {
  const seen = new Set([id]);
  for (let at = id; ;) {
    const row = await db
      .selectFrom("sessions")
      .innerJoin("sessions as above", (join) =>
        join.onRef("above.id", "=", ({ fn }) =>
          fn.coalesce("sessions.parent_session_id", "sessions.forked_from_session_id"),
        ),
      )
      .select("above.id")
      .where("sessions.id", "=", at)
      .executeTakeFirst();
    if (row === undefined || seen.has(row.id)) {
      return at;
    }
    seen.add(row.id);
    at = row.id;
  }
}

async function idsBelow({ db }: Tx, ids: readonly string[]): Promise<string[]> {
  const below: string[] = [];
  for (const batch of batches(ids)) {
    for (const column of ["parent_session_id", "forked_from_session_id"] as const) {
      const rows = await db
        .selectFrom("sessions")
        .select("id")
        .where(column, "in", batch)
        .execute();
      below.push(...rows.map(({ id }) => id));
    }
  }
  return below;
}

type Placed = Omit<TreeMember, "level">;

/** Characters of the first message. */
const BEGINNING = 200;

async function readPlaced(tx: Tx, ids: readonly string[]): Promise<Placed[]> {
  const found: Placed[] = [];
  for (const batch of batches(ids)) {
    const rows = await selectSessions(tx)
      .select(["forked_from_session_id", "forked_from_seq"])
      .select(({ selectFrom }) =>
        selectFrom("messages")
          .select(sql<string>`substr(content, 1, ${sql.lit(BEGINNING)})`.as("text"))
          .whereRef("messages.session_id", "=", "sessions.id")
          .whereRef("messages.seq", ">", "sessions.forked_from_seq")
          .where("messages.role", "=", "user")
          .where("messages.is_summary", "=", 0)
          .orderBy("messages.seq")
          .limit(1)
          .as("began_with"),
      )
      .where("id", "in", batch)
      .execute();
    for (const { forked_from_session_id, forked_from_seq, began_with, ...row } of rows) {
      const session = sessionOf(row);
      const above = session.parent_session_id ?? forked_from_session_id;
      found.push({ session, above, forked_at: forked_from_seq, began_with });
    }
  }
  return found;
}

function inOrder(found: ReadonlyMap<string, Placed>, top: string): TreeMember[] {
  const below = Map.groupBy(found.values(), ({ above, session }) =>
    session.id === top ? null : above,
  );
  const members: TreeMember[] = [];
  const left: TreeMember[] = (below.get(null) ?? []).map((placed) => ({
    ...placed,
    above: null,
    level: 0,
  }));
  for (let next: TreeMember | undefined = left.pop(); next !== undefined; next = left.pop()) {
    members.push(next);
    const level = next.level + 1;
    const sessions = (below.get(next.session.id) ?? []).toSorted(latestFirst);
    left.push(...sessions.map((placed) => ({ ...placed, level })));
  }
  return members;
}

/** The last one is taken first. */
function latestFirst({ session: a }: Placed, { session: b }: Placed): number {
  const [one, other] = [`${a.created_at} ${a.id}`, `${b.created_at} ${b.id}`];
  return one < other ? 1 : -1;
}
