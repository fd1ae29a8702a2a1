import { sql } from "kysely";

import { RepriseError } from "../../core/errors.ts";
import type { ReadOnlyStore, Tx } from "../../store/store.ts";
import type { OfficialSource, OfficialThread } from "./source.ts";
import {
  countThreads,
  damagedSource,
  type OfficialTables,
  readCheckpoint,
  readNames,
  readVersions,
  readWrites,
} from "./tables.ts";

/** The threads in a saver's tables. Each is read in one transaction, so in one state. */
export function sourceOf(
  store: ReadOnlyStore,
  tables: OfficialTables,
  graphsId: OfficialSource["graphsId"],
): OfficialSource {
  return {
    location: store.location,
    graphsId,
    countThreads: () => store.read(countThreads, null),
    threadsAfter: (after, limit) => {
      const where = after === null ? sql`1 = 1` : sql`thread_id > ${after}`;
      return store.read((tx) => readVersions(tx, tables, { where, limit }), null);
    },
    missingOf: (ids) =>
      store.read(async (tx) => {
        const where = sql`thread_id IN (${sql.join(ids)})`;
        const there = await readVersions(tx, tables, { where, limit: ids.length });
        const found = new Set(there.map(({ thread_id }) => thread_id));
        return ids.filter((id) => !found.has(id));
      }, null),
    readThread: (id, work) => store.read(async (tx) => work(await threadOf(tx, tables, id)), null),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

async function threadOf(
  tx: Tx,
  tables: OfficialTables,
  thread_id: string,
): Promise<OfficialThread> {
  const where = sql`thread_id = ${thread_id}`;
  const [found] = await readVersions(tx, tables, { where, limit: 1 });
  if (found === undefined) {
    throw damagedSource();
  }
  return {
    names: await readNames(tx, tables, thread_id),
    version: found.version,
    read: (name) => readCheckpoint(tx, tables, { ...name, thread_id }),
    readWrites: (name) => readWrites(tx, tables, { ...name, thread_id }),
  };
}

export function notASaver(): RepriseError {
  return new RepriseError(
    "database_foreign",
    "The database has no tables of LangGraph's SqliteSaver or PostgresSaver. Name the one that your graph uses; tables in a schema other than public need options=-c%20search_path=<schema> in the address. A database of Reprise is copied with --from.",
  );
}
