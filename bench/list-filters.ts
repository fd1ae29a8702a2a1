import { CompiledQuery } from "kysely";

import { openPostgresStore } from "../src/store/engines/postgres/open.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { listSummaries } from "../src/store/records/sessions/list.ts";
import type { ListFilters } from "../src/store/records/sessions/list-filters.ts";
import type { Store } from "../src/store/store.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { startPostgres } from "./postgres.ts";
import { temporaryFolder } from "./services.ts";

const SMALL = 1000;
const LARGE = 100_000;
const PAGE = 50;
/** Sessions that pass a filter of few, however many there are. */
const PASS = 100;
const SAMPLES = 300;
const MOST = 1.3;
/** Of the sessions, one of which was used each second. */
const FIRST_SECOND = 1_750_000_000;
const KEY = "0123456789abcdef";
const PARENT = "11111111-1111-4111-8111-111111111111";

const FILTERS: Readonly<Record<string, ListFilters>> = {
  "no filter": {},
  roots: { roots: true },
  "not archived": { archived: false },
  idle: { activity: "idle" },
  archived: { archived: true },
  ended: { state: "ended" },
  "of a folder": { folder_key: KEY },
  "of a parent": { parent_session_id: PARENT },
  interrupted: { activity: "interrupted" },
  "beginning of a title": { title: "FOUND" },
  metadata: { metadata: { key: "ticket", value: "42" } },
};

/** The first page of the list by each filter and one from the middle on, in 1,000 sessions and in 100,000. */
export const bench: Bench = {
  about: "pages of the list by each filter among 100,000 sessions, held against 1,000",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    await using postgres = await startPostgres();
    const sizes = { large: Math.max(SMALL, LARGE * scale), samples: Math.max(3, SAMPLES * scale) };
    return [
      ...(await compare(sizes, {
        name: "SQLite",
        open: (name) => openSqliteStore({ path: `${folder.path}/${name}.db` }),
        settle: () => Promise.resolve(),
      })),
      ...(await compare(sizes, {
        name: "PostgreSQL",
        open: async (name) => openPostgresStore({ url: await postgres.makeDatabase(name) }),
        settle: postgres.settle,
      })),
    ];
  },
};

interface Engine {
  readonly name: string;
  open(name: string): Promise<Store>;
  settle(): Promise<void>;
}

async function compare(
  { large, samples }: { readonly large: number; readonly samples: number },
  engine: Engine,
): Promise<Measurement[]> {
  await using smallStore = await engine.open("small");
  await using largeStore = await engine.open("large");
  await fill(smallStore, SMALL);
  await fill(largeStore, Math.round(large));
  await engine.settle();
  const lines: Measurement[] = [];
  const lists = Object.entries(FILTERS).flatMap(([name, filters]) => [
    { name, filters, isFirst: true },
    { name: `${name}, from the middle on`, filters, isFirst: false },
  ]);
  for (const { name, filters, isFirst } of lists) {
    const took = { small: [] as number[], large: [] as number[] };
    for (let sample = -samples / 10; sample < samples; sample += 1) {
      for (const [times, store, count] of [
        [took.small, smallStore, SMALL],
        [took.large, largeStore, large],
      ] as const) {
        const after = isFirst ? {} : { after: { at: timeOf(count / 2), id: PARENT } };
        const begun = performance.now();
        await store.read(listSummaries, { ...filters, ...after, limit: PAGE });
        if (sample >= 0) {
          times.push(performance.now() - begun);
        }
      }
    }
    lines.push({
      what: `${engine.name}: ${name}`,
      unit: "ms",
      ours: median(took.large),
      floor: median(took.small),
      reach: { at_most: MOST },
    });
  }
  return lines;
}

/** When a session was used last. */
function timeOf(n: number): string {
  return new Date((FIRST_SECOND + Math.round(n)) * 1000).toISOString();
}

/** As many sessions; a filter of few is passed by equally many of them, evenly spread. */
async function fill(store: Store, count: number): Promise<void> {
  const isSqlite = await store.read(async ({ dialect }) => dialect.writersQueue, null);
  const id = isSqlite
    ? `printf('%08x-0000-4000-8000-000000000000', n)`
    : `lpad(to_hex(n), 8, '0') || '-0000-4000-8000-000000000000'`;
  const time = isSqlite
    ? `strftime('%Y-%m-%dT%H:%M:%fZ', ${FIRST_SECOND} + n, 'unixepoch')`
    : `to_char(to_timestamp(${FIRST_SECOND} + n) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
  const every = Math.max(1, Math.floor(count / PASS));
  const passes = (kind: number, yes: string, no = "NULL") =>
    `CASE WHEN n % ${every} = ${kind % every} THEN ${yes} ELSE ${no} END`;
  const run = (statement: string) =>
    store.write(({ db }) => db.executeQuery(CompiledQuery.raw(statement)), null);
  await run(
    `INSERT INTO sessions (id, created_at) VALUES ('${PARENT}', '2024-01-01T00:00:00.000Z')`,
  );
  await run(`${numbers}
    INSERT INTO sessions (id, created_at, state, title, project_key, repo_path, parent_session_id,
      exchange_open, archived_at)
    SELECT ${id}, ${time}, ${passes(0, "'ended'", "'active'")}, ${passes(1, "'Found ' || n", "'session ' || n")},
      ${passes(2, `'${KEY}'`)}, ${passes(2, "'/nowhere'")}, ${passes(3, `'${PARENT}'`)},
      ${passes(4, "1", "0")}, ${passes(5, time)}
    FROM numbers`);
  await run("UPDATE sessions SET root_session_id = coalesce(parent_session_id, id)");
  await run(`${numbers}
    INSERT INTO session_metadata (session_id, key, value)
    SELECT ${id}, 'ticket', ${passes(6, "'42'", "'' || n")} FROM numbers`);
}
