import { sql } from "kysely";

import type { NodeInfo } from "../../../core/schemas/service-schemas.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";

/** A node announces itself this often, and counts as gone after three times as long. */
export const NODE_SEEN_MS = 10_000;
const NODE_GONE_MS = 3 * NODE_SEEN_MS;
/** The clocks of machines differ a little. A node that was seen later than this had another clock, and says nothing. */
const NODE_AHEAD_MS = NODE_SEEN_MS;

/**
 * The folders in whose sessions a node runs exchanges, as real paths. With `within` these and those
 * below them; with `trusted` those of the projects that its user trusts.
 */
export type NodeFolders =
  | { readonly within: readonly string[] }
  | { readonly trusted: readonly string[] };

/** Which sessions a node runs. */
export interface NodeChoice {
  /** The name of its agent; null for the built-in one. */
  readonly agent: string | null;
  readonly folders: NodeFolders;
}

/** Keeps a node among those that run exchanges, and forgets those that are gone. */
export const announceNode: Operation<NodeChoice & { readonly id: string }, void> = async (
  tx,
  { id, agent, folders },
) => {
  const row = { agent, folders: JSON.stringify(folders), seen_at: tx.dialect.now() };
  await tx.db
    .insertInto("nodes")
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
    .execute();
  await tx.db
    .deleteFrom("nodes")
    .where(({ eb, or }) =>
      or([
        eb("seen_at", "<", tx.dialect.now(-NODE_GONE_MS)),
        eb("seen_at", ">", tx.dialect.now(NODE_GONE_MS)),
      ]),
    )
    .execute();
};

export const withdrawNode: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  await tx.db.deleteFrom("nodes").where("id", "=", id).execute();
};

/** True if a node is alive, whichever sessions it runs. */
export async function hasNode(tx: Tx): Promise<boolean> {
  const node = await tx.db
    .selectFrom("nodes")
    .select("id")
    .where("seen_at", ">=", tx.dialect.now(-NODE_GONE_MS))
    .where("seen_at", "<=", tx.dialect.now(NODE_AHEAD_MS))
    .executeTakeFirst();
  return node !== undefined;
}

/** Which sessions the nodes that are alive run. */
export const readNodeChoices: Operation<null, NodeChoice[]> = async (tx) =>
  (await readNodes(tx)).map(({ agent, folders }) => ({ agent, folders: parseFolders(folders) }));

/** The nodes that are alive. */
export const listNodes: Operation<null, NodeInfo[]> = async (tx) => {
  const rows = await readNodes(tx);
  return rows.map(({ id, agent, folders, seen_at }) => {
    const { within, trusted } = { within: null, trusted: null, ...parseFolders(folders) };
    return {
      id,
      agent,
      within: within === null ? null : [...within],
      trusted: trusted === null ? null : [...trusted],
      seen_at,
    };
  });
};

function readNodes(tx: Tx) {
  return tx.db
    .selectFrom("nodes")
    .select(["id", "agent", "folders", "seen_at"])
    .where("seen_at", ">=", tx.dialect.now(-NODE_GONE_MS))
    .where("seen_at", "<=", tx.dialect.now(NODE_AHEAD_MS))
    .orderBy("id")
    .execute();
}

/** Facts that decide which nodes run a session, and the nodes that are alive. */
export interface SessionNodes {
  readonly repo_path: string | null;
  readonly agent: string | null;
  /** True once an agent has begun in its thread. */
  readonly has_begun: boolean;
  readonly nodes: readonly NodeChoice[];
}

/** Null if there is no such session. */
export const readSessionNodes: Operation<
  { readonly session_id: string },
  SessionNodes | null
> = async (tx, { session_id }) => {
  const rows = await tx.rows(nodesOfSession, { session_id });
  const [session] = rows;
  if (session === undefined) {
    return null;
  }
  const { repo_path, agent, has_begun } = session;
  const nodes = rows.flatMap(({ node_agent, folders }) =>
    folders === null ? [] : [{ agent: node_agent, folders: parseFolders(folders) }],
  );
  return { repo_path, agent, has_begun: Boolean(has_begun), nodes };
};

const nodesOfSession = prepared(
  ({ db, dialect }, given: Parameter<{ readonly session_id: string }>) =>
    db
      .selectFrom("sessions")
      .leftJoin("nodes", (join) =>
        join
          .on("seen_at", ">=", dialect.now(-NODE_GONE_MS))
          .on("seen_at", "<=", dialect.now(NODE_AHEAD_MS)),
      )
      .select(["repo_path", "sessions.agent", "nodes.agent as node_agent", "folders"])
      .select(({ exists, selectFrom }) =>
        exists(
          selectFrom("threads")
            .select("threads.id")
            .where("thread_id", "=", sql<string>`sessions.id || ':' || sessions.thread_suffix`),
        ).as("has_begun"),
      )
      .where("sessions.id", "=", given("session_id")),
);

/** A newer version may announce in another way: of it, nothing is known. */
function parseFolders(text: string): NodeFolders {
  const value = JSON.parse(text) as Partial<Record<"within" | "trusted", readonly string[]>>;
  return value.trusted === undefined ? { within: value.within ?? [] } : { trusted: value.trusted };
}
