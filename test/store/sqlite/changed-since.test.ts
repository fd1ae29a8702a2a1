import { join } from "node:path";

import { CompiledQuery } from "kysely";
import { expect, it } from "vitest";

import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { createPreparedQueries } from "../../../src/store/prepared.ts";
import { readChanges } from "../../../src/store/records/changes/read-changes.ts";
import { findIfIndexed } from "../../../src/store/records/search/find.ts";
import type { Operation, Store, Tx } from "../../../src/store/store.ts";
import { newSession } from "../../helpers/engines.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it("[SEARCH-20] what changed since a number is read from that number on, not from the first change", async () => {
  await using store = await openSqliteStore({ path: join(temporaryFolder(), "reprise.db") });
  await newSession(store);
  const limits = { max_rows: 100, max_bytes: 1000, phases: () => Promise.resolve([]) };
  const first = { after: null, ahead: new Map(), lost: null, ...limits };
  const { position } = await store.read(readChanges, first);
  const query = { words: ["word"], before: 2 ** 50, limit: 20, documents: 20 };
  const after = { ...position, at: position.at - 1 };
  for (const steps of [
    await stepsOf(store, readChanges, { ...first, after }),
    await stepsOf(store, findIfIndexed, query),
  ]) {
    expect(steps).toContain("SeekGE");
    // how `changed > 0` begins
    expect(steps).not.toContain("SeekGT");
  }
});

/** The steps of the programs that SQLite makes of an operation's statements. */
function stepsOf<Input, Output>(
  store: Store,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<string[]> {
  return store.read(async (tx) => {
    const asked: CompiledQuery[] = [];
    await operation(recording(tx, asked), input);
    const steps: string[] = [];
    for (const { sql, parameters } of asked) {
      const program = CompiledQuery.raw(`EXPLAIN ${sql}`, [...parameters]);
      const { rows } = await tx.db.executeQuery<{ opcode: string }>(program);
      steps.push(...rows.map(({ opcode }) => opcode));
    }
    return steps;
  }, null);
}

function recording(tx: Tx, asked: CompiledQuery[]): Tx {
  const compiledOf = createPreparedQueries(tx, (sql) => sql);
  const db = tx.db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      asked.push(tx.db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  const rows: Tx["rows"] = (query, values) => {
    const { statement, parameters } = compiledOf(query, values);
    asked.push(CompiledQuery.raw(statement, [...parameters]));
    return tx.rows(query, values);
  };
  return { ...tx, db, rows };
}
