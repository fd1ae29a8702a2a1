import { CompiledQuery } from "kysely";
import { expect, it } from "vitest";

import { LIST_ORDERS } from "../../../../src/core/sessions.ts";
import { createPreparedQueries } from "../../../../src/store/prepared.ts";
import { type ListInput, listSummaries } from "../../../../src/store/records/sessions/list.ts";
import type { ListFilters } from "../../../../src/store/records/sessions/list-filters.ts";
import { patchSession } from "../../../../src/store/records/sessions/patch.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngine, execute, newSession, openFresh } from "../../../helpers/engines.ts";
import { tokenHolder } from "../../../../src/core/principal.ts";

const KEY = "0123456789abcdef";
const PARENT = "11111111-1111-4111-8111-111111111111";

/** What most sessions pass is read in the order of the list. */
const IN_ORDER = /sessions_by_(activity|creation)/;

/** Each filter, and what the database finds the sessions by. */
const FILTERS: readonly (readonly [ListFilters, RegExp])[] = [
  [{}, IN_ORDER],
  [{ roots: true }, IN_ORDER],
  [{ archived: false }, IN_ORDER],
  [{ activity: "idle" }, IN_ORDER],
  [{ archived: true }, /sessions_archived_by_(last_activity_at|created_at)/],
  [{ pinned: false }, IN_ORDER],
  [{ pinned: true }, /sessions_pinned_by_(last_activity_at|created_at)/],
  [{ state: "ended" }, /sessions_by_state/],
  [{ project_key: KEY }, /sessions_by_project/],
  [{ folder_key: KEY }, /sessions_by_project/],
  [{ parent_session_id: PARENT }, /sessions_by_parent/],
  [{ forked_from_session_id: PARENT }, /sessions_by_origin/],
  [{ activity: "running" }, /sessions_by_open_exchange[^]*sessions_held/],
  [{ activity: "interrupted" }, /sessions_by_open_exchange/],
  [{ title: "session 1234" }, /sessions_by_name[^]*sessions_by_title/],
  [{ metadata: { key: "ticket", value: "42" } }, /session_metadata_by_value/],
];

describeEngine("the filters of the list", (engine) => {
  it("[HTTP-163] each uses an index on the first page and on later ones, and no list reads all sessions", async () => {
    const store = await openFresh(engine);
    await fill(store, 20_000);
    const pages = [{}, { after: { at: "2025-06-15T18:00:00.000Z", id: PARENT } }];
    const lists = LIST_ORDERS.flatMap((order) => pages.map((page) => ({ order, ...page })));
    for (const [filters, index] of FILTERS) {
      for (const list of lists) {
        const plan = await planOf(store, { ...filters, ...list, limit: 50 });
        const what = `${JSON.stringify({ ...filters, ...list })}\n${plan}`;
        expect(plan, what).toMatch(index);
        if (index !== IN_ORDER) {
          expect(plan, what).not.toMatch(IN_ORDER);
        }
        expect(plan, what).not.toMatch(/SCAN sessions(?! USING)|Seq Scan/);
      }
    }
  });

  it("[HTTP-162] finds a name or a title by its beginning, in upper and lower case", async () => {
    const store = await openFresh(engine);
    const titles = [
      "Größe messen",
      "größer",
      "GRÖSSE",
      "Über uns",
      "École Élémentaire",
      "a_b%",
      "Привет Мир",
    ];
    for (const title of titles) {
      const { id } = await newSession(store, {});
      await execute(store, `UPDATE sessions SET title = '${title}' WHERE id = '${id}'`);
    }
    const { id } = await newSession(store, {});
    const principal = tokenHolder("owner");
    const change = { name: "Überschrift" };
    await store.write(patchSession, { reference: id, change, project_key: null, principal });
    const found = async (title: string): Promise<string[]> => {
      const input = { limit: 10, title, order: "created" } as const;
      const { json } = await store.read(listSummaries, input);
      return (JSON.parse(json) as { title: string | null; name: string | null }[])
        .map((each) => each.name ?? each.title ?? "")
        .toSorted();
    };
    expect(await found("GRÖ")).toEqual(["GRÖSSE", "Größe messen", "größer"]);
    expect(await found("größe")).toEqual(["GRÖSSE", "Größe messen", "größer"]);
    expect(await found("größer")).toEqual(["größer"]);
    expect(await found("über")).toEqual(["Über uns", "Überschrift"]);
    expect(await found("ÜBERS")).toEqual(["Überschrift"]);
    expect(await found("école élé")).toEqual(["École Élémentaire"]);
    expect(await found("привет м")).toEqual(["Привет Мир"]);
    expect(await found("a_")).toEqual(["a_b%"]);
    for (const title of ["%", "_", "b", " größe", "'"]) {
      expect(await found(title)).toEqual([]);
    }
  });
});

/** Sessions as they are: most of them idle, a hundredth of everything else. */
async function fill(store: Store, count: number): Promise<void> {
  const { writersQueue } = await store.read(async ({ dialect }) => dialect, null);
  const id = (n: string) =>
    writersQueue
      ? `printf('%08x-0000-4000-8000-000000000000', ${n})`
      : `lpad(to_hex(${n}), 8, '0') || '-0000-4000-8000-000000000000'`;
  const time = writersQueue
    ? `strftime('%Y-%m-%dT%H:%M:%fZ', 1750000000 + n, 'unixepoch')`
    : `to_char(to_timestamp(1750000000 + n) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
  await execute(
    store,
    `INSERT INTO sessions (id, created_at) VALUES ('${PARENT}', '2026-01-01T00:00:00.000Z')`,
  );
  await execute(
    store,
    `${numbers} INSERT INTO sessions (id, created_at, state, title, project_key, repo_path, parent_session_id, exchange_open, lease_owner, archived_at, name)
     SELECT ${id("n")}, ${time}, CASE WHEN n % 100 = 1 THEN 'ended' ELSE 'active' END, 'session ' || n,
       CASE WHEN n % 100 = 2 THEN '${KEY}' END, CASE WHEN n % 100 = 2 THEN '/nowhere' END,
       CASE WHEN n % 1000 = 3 THEN '${PARENT}' END, CASE WHEN n % 1000 = 4 THEN 1 ELSE 0 END,
       CASE WHEN n % 1000 = 4 THEN '{}' END, CASE WHEN n % 100 = 5 THEN ${time} END,
       CASE WHEN n % 100 = 6 THEN 'name ' || n END
     FROM numbers`,
  );
  await execute(
    store,
    `${numbers} INSERT INTO session_metadata (session_id, key, value)
     SELECT ${id("n")}, 'ticket', '' || (n / 10) FROM numbers`,
  );
  await execute(
    store,
    `${numbers} INSERT INTO exchanges (session_id, n, id, state, asked_by, ended_at)
     SELECT ${id("n")}, 1, ${id("n")}, 'done', 'http', ${time} FROM numbers`,
  );
  if (!writersQueue) {
    await execute(store, "ANALYZE");
  }
}

/** How the database would read a page. */
async function planOf(store: Store, input: ListInput): Promise<string> {
  const plans: string[] = [];
  await store.read(async (tx) => {
    const compiledOf = createPreparedQueries(tx, (sql) => sql);
    const explain = tx.dialect.writersQueue ? "EXPLAIN QUERY PLAN" : "EXPLAIN";
    await listSummaries(
      {
        ...tx,
        rows: async (query, values) => {
          const { statement, parameters } = compiledOf(query, values);
          const plan = CompiledQuery.raw(`${explain} ${statement}`, [...parameters]);
          const { rows } = await tx.db.executeQuery<object>(plan);
          plans.push(...rows.map((row) => Object.values(row).join(" ")));
          return [];
        },
      },
      input,
    );
  }, null);
  return plans.join("\n");
}
