import { sql } from "kysely";

import { queryGrams, searchWords } from "../src/core/search/search.ts";
import { type Parameter, prepared } from "../src/store/prepared.ts";
import { openPostgresStore } from "../src/store/engines/postgres/open.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { appendUserMessage } from "../src/store/records/messages/append.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import { indexTail, searchMessages } from "../src/store/search.ts";
import type { Store } from "../src/store/store.ts";
import { type Bench, type Measurement, median, percentile } from "./measurement.ts";
import { startPostgres } from "./postgres.ts";
import { temporaryFolder } from "./services.ts";

const MESSAGES = 1_000_000;
const SESSION = 100;
/** Rounds of so many searches: a moment in which the machine does something else is in one of them. */
const ROUNDS = 7;
const SAMPLES = 100;
const LIMIT = 20;
/** Share of the messages, which are those of a year. */
const FIRST_TIME = Date.UTC(2025, 10, 1);
const PAUSE_MS = 30_000;
const PAIRS = 10;
const APPENDS = 200;
const APPENDS_OF_A_TURN = 20;
const MOST = 2;

/** Queries: a word of every message, of few, of none, and two words. */
const QUERIES = ["message", "needle", "nowhere", "needle message"];

/** Searches among a million messages, against the engine's index asked directly. */
export const bench: Bench = {
  about: "searches among 1,000,000 messages, held against the engine's own index",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    await using postgres = await startPostgres();
    const count = Math.max(2000, Math.round(MESSAGES * scale));
    await using sqlite = await openSqliteStore({ path: `${folder.path}/search.db` });
    await using other = await openPostgresStore({ url: await postgres.makeDatabase("search") });
    return [
      ...(await measure({ name: "SQLite", store: sqlite, count, scale })),
      ...(await measure({ name: "PostgreSQL", store: other, count, scale })),
    ];
  },
};

interface Measured {
  readonly name: string;
  readonly store: Store;
  readonly count: number;
  readonly scale: number;
}

async function measure({ name, store, count, scale }: Measured): Promise<Measurement[]> {
  const bytes = await fill(store, count);
  const begun = performance.now();
  while ((await indexTail(store, { messages: count, ms: 60_000 })) !== null) {
    // until all is indexed
  }
  const took = performance.now() - begun;
  // as autovacuum does soon after many changes
  await store.write(async ({ db }) => sql`analyze`.execute(db), null);
  const lines: Measurement[] = [
    {
      what: `${name}: indexing`,
      unit: "messages/s",
      ours: (count / took) * 1000,
      floor: null,
      reach: null,
    },
    {
      what: `${name}: bytes of the index`,
      unit: "B",
      ours: await indexBytes(store),
      floor: bytes,
      reach: null,
    },
  ];
  const samples = Math.max(20, Math.round(SAMPLES * scale));
  for (const query of QUERIES) {
    const rounds: Times[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push(await searches(store, query, samples));
    }
    lines.push({
      what: `${name}: p95 of a search for ${query}`,
      unit: "ms",
      ours: median(rounds.map(({ ours }) => percentile(ours, 0.95))),
      floor: median(rounds.map(({ index }) => percentile(index, 0.95))),
      reach: { at_most: MOST },
    });
  }
  return [...lines, await appends(name, store)];
}

interface Times {
  readonly ours: readonly number[];
  readonly index: readonly number[];
}

/** A search and the index take turns, and the first place of a turn. */
async function searches(store: Store, query: string, samples: number): Promise<Times> {
  const times = { ours: [] as number[], index: [] as number[] };
  const ours = () => timed(() => searchMessages(store, { query, limit: LIMIT }));
  const index = () => timed(() => ask(store, query));
  for (let sample = 0; sample < samples; sample += 1) {
    if (sample % 2 === 0) {
      times.ours.push(await ours());
      times.index.push(await index());
    } else {
      times.index.push(await index());
      times.ours.push(await ours());
    }
  }
  return times;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Asks the index for the words alone, with the messages that it finds, as a program would that trusts it. */
function ask(store: Store, query: string): Promise<unknown> {
  const grams = queryGrams(searchWords(query));
  return store.read(async (tx) => {
    const match = tx.dialect.search.match(grams);
    return tx.rows(indexedMessages, {
      match,
      after: 0,
      before: Number.MAX_SAFE_INTEGER,
      limit: LIMIT,
    });
  }, null);
}

interface Asked {
  readonly match: string;
  readonly after: number;
  readonly before: number;
  readonly limit: number;
}

const indexedMessages = prepared(({ db, dialect }, given: Parameter<Asked>) => {
  const index = dialect.search.find({
    match: given("match"),
    after: given("after"),
    before: given("before"),
    limit: given("limit"),
  });
  return db
    .selectFrom(index.as("d"))
    .innerJoin("messages as m", (join) =>
      join.onRef("m.session_id", "=", "d.session_id").onRef("m.seq", "=", "d.seq"),
    )
    .select(["d.id", "d.session_id", "d.seq", "m.role", "m.ts", "m.content"])
    .orderBy("d.id", "desc");
});

/** Appends in pairs of turns: 20 after a search, which indexes the ones before, and 20 without. Each append is measured by itself. */
async function appends(name: string, store: Store): Promise<Measurement> {
  const { id } = await store.write(createSession, {});
  const times = { off: [] as number[], on: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const spent = { off: [] as number[], on: [] as number[] };
    for (let n = 0; n < 2 * APPENDS; n += 1) {
      const mode = Math.floor(n / APPENDS_OF_A_TURN) % 2 === pair % 2 ? "off" : "on";
      if (mode === "on" && n % APPENDS_OF_A_TURN === 0) {
        await searchMessages(store, { query: "needle", limit: LIMIT });
      }
      const content = textOf(2 * pair * APPENDS + n);
      const append = () => store.write(appendUserMessage, { reference: id, content });
      spent[mode].push(await timed(append));
    }
    times.off.push(median(spent.off));
    times.on.push(median(spent.on));
  }
  return {
    what: `${name}: an append between searches`,
    unit: "ms",
    ours: median(times.on),
    floor: median(times.off),
    reach: { at_most: 1.1 },
  };
}

/** Sessions of 100 messages of about 500 bytes; one in 10,000 has the needle. Returns the bytes of the texts. */
async function fill(store: Store, count: number): Promise<number> {
  let bytes = 0;
  for (let first = 0; first < count; first += SESSION) {
    const { id } = await store.write(createSession, {});
    const rows = Array.from({ length: SESSION }, (_, n) => {
      const content = textOf(first + n);
      bytes += Buffer.byteLength(content);
      const ts = new Date(FIRST_TIME + (first + n) * PAUSE_MS).toISOString();
      return { session_id: id, seq: n + 1, content, checkpointed: 1, ts };
    });
    await store.write(async ({ db }) => {
      for (let at = 0; at < SESSION; at += 50) {
        await db
          .insertInto("messages")
          .values(rows.slice(at, at + 50))
          .execute();
      }
      await db.updateTable("sessions").set({ last_seq: SESSION }).where("id", "=", id).execute();
    }, null);
  }
  return bytes;
}

const SYLLABLES = "ka lo mi ra ten sor vel qua ish dor pel nim tra zu fen".split(" ");

/** Words that no two messages have in the same order. */
function textOf(index: number): string {
  const words = Array.from({ length: 70 }, (_, at) => {
    const mixed = Math.imul(index * 71 + at + 1, 2654435761) >>> 0;
    return [mixed % 15, (mixed >>> 8) % 15, (mixed >>> 16) % 15].map((n) => SYLLABLES[n]).join("");
  });
  return `message ${index} ${index % 10_000 === 7 ? "needle" : ""} ${words.join(" ")}`;
}

async function indexBytes(store: Store): Promise<number> {
  return store.read(async ({ db, dialect }) => {
    const { rows } = await (
      dialect.writersQueue
        ? sql<{ bytes: number }>`select (select sum(length(block)) from search_index_data) +
            (select count(*) * 60 from search_documents) as bytes`
        : sql<{ bytes: number }>`select pg_total_relation_size('search_documents')::bigint as bytes`
    ).execute(db);
    return rows[0]?.bytes ?? 0;
  }, null);
}
