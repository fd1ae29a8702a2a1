import { createCheckpointSaver } from "../src/langgraph/saver.ts";
import { MAX_DETAIL_BYTES } from "../src/core/limits.ts";
import { threadId } from "../src/core/threads.ts";
import { appendUserMessage } from "../src/store/records/messages/append.ts";
import { readDetailWithin } from "../src/store/records/messages/detail-within.ts";
import { readPending } from "../src/store/records/messages/read.ts";
import { openPostgresStore } from "../src/store/engines/postgres/open.ts";
import { listSessions } from "../src/store/records/sessions/list.ts";
import { readSession } from "../src/store/records/sessions/read.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import type { Store } from "../src/store/store.ts";
import { type Filled, fillStore, MESSAGES_EACH, projectOf } from "./fill.ts";
import { type Bench, type Measurement, median, percentile } from "./measurement.ts";
import { type BenchPostgres, startPostgres } from "./postgres.ts";
import { temporaryFolder } from "./services.ts";

const SMALL = 100;
const MILLION = 10_000;
const TEN_MILLIONS = 100_000;
/** Of each work on each database; the two take turns, so that the machine weighs on both alike. */
const SAMPLES = 1000;
const MOST = 1.5;
/** Appends that wait for one another's commits, as many clients make them. */
const WRITERS = 32;
const WRITES_EACH = 100;

type Work = (filled: Filled, random: () => number) => Promise<unknown>;

const WORKS: Readonly<Record<string, Work>> = {
  list: ({ store }) => store.read(listSessions, { limit: 50 }),
  "list of a project": ({ store, ids }, random) =>
    store.read(listSessions, {
      limit: 50,
      state: "active",
      project_key: projectOf(Math.floor(random() * ids.length)),
    }),
  detail: ({ store, ids }, random) =>
    store.read(readDetailWithin, {
      reference: one(ids, random),
      all: false,
      max_bytes: MAX_DETAIL_BYTES,
    }),
  append: ({ store, ids }, random) =>
    store.write(appendUserMessage, { reference: one(ids, random), content: "one more" }),
  resume: ({ store, ids }, random) => resume(store, one(ids, random)),
};

/** What people wait for, in a database of a million messages and in one of ten thousand. */
export const bench: Bench = {
  about: `a database of 1,000,000 messages against one of 10,000, ${MESSAGES_EACH} in each session`,
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    await using postgres = await startPostgres();
    const sqlite: Engine = {
      name: "SQLite",
      open: (name) => openSqliteStore({ path: `${folder.path}/${name}.db` }),
      settle: () => Promise.resolve(),
    };
    const big = MILLION * scale;
    const samples = SAMPLES * scale;
    return [
      ...(await compare(sqlite, { big, samples })),
      ...(await compare(onServer(postgres), { big, samples })),
    ];
  },
};

/** The same in 100,000 sessions on PostgreSQL; filling them takes most of the time. */
export const tenMillions: Bench = {
  about: `a database of 10,000,000 messages against one of 10,000, ${MESSAGES_EACH} in each session`,
  run: async ({ scale }) => {
    await using postgres = await startPostgres();
    const counts = { big: TEN_MILLIONS * scale, samples: SAMPLES * scale };
    return await compare(onServer(postgres), counts);
  },
};

function onServer(postgres: BenchPostgres): Engine {
  return {
    name: "PostgreSQL",
    open: async (name) => openPostgresStore({ url: await postgres.makeDatabase(name) }),
    settle: postgres.settle,
    bytes: (name) => postgres.bytes(name),
  };
}

interface Engine {
  readonly name: string;
  open(name: string): Promise<Store>;
  /** What the database does by itself some time after many rows came. */
  settle(): Promise<void>;
  /** What a database takes, with its indexes. */
  bytes?(name: string): Promise<number>;
}

interface Sizes {
  /** Sessions in the large database. */
  readonly big: number;
  readonly samples: number;
}

async function compare(engine: Engine, sizes: Sizes): Promise<Measurement[]> {
  await using smallStore = await engine.open("small");
  await using bigStore = await engine.open("big");
  const small = await fillStore(smallStore, SMALL);
  const big = await fillStore(bigStore, Math.max(SMALL, Math.round(sizes.big)));
  await engine.settle();
  const lines: Measurement[] = [];
  for (const [name, work] of Object.entries(WORKS)) {
    const samples = Math.min(SAMPLES, Math.ceil(sizes.samples));
    const took = await takeTurns({ small, big }, work, samples);
    const [ours, floor] = [took.big, took.small];
    lines.push(
      {
        what: `${engine.name}: ${name}`,
        unit: "ms",
        ours: median(ours),
        floor: median(floor),
        reach: { at_most: MOST },
      },
      {
        what: `${engine.name}: ${name}, p99`,
        unit: "ms",
        ours: percentile(ours, 0.99),
        floor: percentile(floor, 0.99),
        reach: null,
      },
    );
  }
  lines.push({
    what: `${engine.name}: appends a second of ${WRITERS} writers`,
    unit: "appends",
    ours: await appendsPerSecond(big),
    floor: await appendsPerSecond(small),
    reach: null,
  });
  if (engine.bytes !== undefined) {
    lines.push({
      what: `${engine.name}: bytes of a message, with all that is stored of it`,
      unit: "bytes",
      ours: (await engine.bytes("big")) / (big.ids.length * MESSAGES_EACH),
      floor: null,
      reach: null,
    });
  }
  return lines;
}

async function takeTurns(
  { small, big }: { readonly small: Filled; readonly big: Filled },
  work: Work,
  samples: number,
): Promise<{ small: number[]; big: number[] }> {
  const took = { small: [] as number[], big: [] as number[] };
  for (let sample = -samples / 10; sample < samples; sample += 1) {
    for (const [times, filled] of [
      [took.small, small],
      [took.big, big],
    ] as const) {
      const begun = performance.now();
      await work(filled, Math.random);
      if (sample >= 0) {
        times.push(performance.now() - begun);
      }
    }
  }
  return took;
}

async function appendsPerSecond({ store, ids }: Filled): Promise<number> {
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (let count = 0; count < WRITES_EACH; count += 1) {
        const reference = one(ids, Math.random);
        await store.write(appendUserMessage, { reference, content: "one more" });
      }
    }),
  );
  return (WRITERS * WRITES_EACH * 1000) / (performance.now() - begun);
}

/** What an exchange reads before it asks the model, by a process that knows nothing yet. */
async function resume(store: Store, id: string): Promise<void> {
  const session = await store.read(readSession, { id });
  const thread_id = threadId(id, session.thread_suffix);
  const tuple = await createCheckpointSaver({ store }).getTuple({ configurable: { thread_id } });
  const messages = tuple?.checkpoint.channel_values["messages"];
  if (!Array.isArray(messages) || messages.length !== MESSAGES_EACH) {
    throw new Error("the thread did not come whole");
  }
  await store.read(readPending, { session_id: id });
}

function one(ids: readonly string[], random: () => number): string {
  return ids[Math.floor(random() * ids.length)]!;
}
