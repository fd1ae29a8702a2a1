import { sql } from "kysely";
import { expect } from "vitest";

import { forkSession } from "../../../src/store/checkpoints/forks/fork-session.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";

/** Rows of checkpoints, and the bytes of bodies, of all threads. */
export interface ThreadRows {
  readonly bodies: number;
  readonly bytes: number;
  readonly lists: number;
  readonly items: number;
  readonly checkpoints: number;
  readonly families: number;
}

export function threadRows(store: Store): Promise<ThreadRows> {
  return store.read(async ({ db }) => {
    const count = async (table: string): Promise<number> => {
      const { rows } = await sql<{
        n: number;
      }>`select count(*) as n from ${sql.table(table)}`.execute(db);
      return rows[0]?.n ?? 0;
    };
    const { rows } = await sql<{ bytes: number }>`
      select cast(coalesce(sum(octet_length(body)), 0) as bigint) as bytes
      from checkpoint_bodies`.execute(db);
    return {
      bodies: await count("checkpoint_bodies"),
      bytes: rows[0]?.bytes ?? 0,
      lists: await count("checkpoint_lists"),
      items: await count("checkpoint_list_items"),
      checkpoints: await count("checkpoints"),
      families: await count("families"),
    };
  }, null);
}

export async function forkOf(store: Store, session_id: string, at_seq?: number): Promise<string> {
  return (await store.write(forkSession, { session_id, at_seq })).id;
}

/** The messages of a session, as short texts. */
export async function contentsOf(store: Store, id: string): Promise<readonly string[]> {
  const { messages } = await store.read(readSessionTree, { id });
  return messages.map(({ seq, role, content }) => `${seq} ${role} ${content}`);
}

/** Expects that the messages of sessions are those of their checkpoints, and that nothing is missing. */
export async function expectSound(store: Store, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    expect((await verifySession(store, id)).findings, id).toEqual([]);
  }
}
