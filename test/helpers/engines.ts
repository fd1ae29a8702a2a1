import { join } from "node:path";

import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, it, onTestFinished } from "vitest";

import type { Session } from "../../src/core/sessions.ts";
import type { LeaseOwner } from "../../src/store/records/leases/this-process.ts";
import { createSession, type NewSession } from "../../src/store/records/sessions/create.ts";
import { openPostgresStore } from "../../src/store/engines/postgres/open.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase } from "./database.ts";
import { makeEmptyFile } from "./empty-file.ts";
import { openStoreAt } from "./open-store.ts";
import { createPostgres } from "./postgres.ts";
import { seededRandom } from "./random.ts";
import { isPostgresRun, testLevel } from "./size.ts";
import { temporaryFolder } from "./temp.ts";

/** One empty database of an engine, for the test that asked for it. */
export interface TestDatabase {
  /** What a program of `test/fixtures/programs/store-*.ts` takes as its first argument. */
  readonly location: string;
  /** Opens it (once more); closed when the test is done. */
  open(): Promise<Store>;
}

export interface Engine {
  readonly name: string;
  /** False if `mayHaveChanged` always says yes, because asking would cost as much as reading. */
  readonly noticesQuiet: boolean;
  create(): Promise<TestDatabase>;
  /** Opens a database whose tables are made now: those of `create` are copies of one, so their changes have one position. */
  openNew(): Promise<Store>;
}

/** For who needs a database of each engine at once. */
export const sqlite: Engine = {
  name: "sqlite",
  noticesQuiet: true,
  create: async () => {
    const location = join(temporaryFolder(), "data", "reprise.db");
    await makeEmptyFile(location);
    return {
      location,
      open: async () => closedAfterTest(await openSqliteStore({ path: location })),
    };
  },
  openNew: async () =>
    closedAfterTest(await openSqliteStore({ path: join(temporaryFolder(), "reprise.db") })),
};

const postgres: Engine = {
  name: "postgres",
  noticesQuiet: false,
  create: async () => {
    const database = await createPostgres();
    onTestFinished(() => database[Symbol.asyncDispose]());
    return {
      location: database.url,
      open: async () => closedAfterTest(await openPostgresStore({ url: database.url })),
    };
  },
  openNew: async () => {
    const database = await createPostgres({ tables: false });
    onTestFinished(() => database[Symbol.asyncDispose]());
    return closedAfterTest(await openPostgresStore({ url: database.url }));
  },
};

const engines: readonly Engine[] = [sqlite, postgres];

/** Somebody who holds a lease. */
export const owner: LeaseOwner = {
  host: "workshop",
  machine: "m1",
  pid: 4711,
  command: "reprise serve",
  since: "2026-01-01T00:00:00.000Z",
};

/** Runs the same cases on every engine, each case on a separate database. */
export function describeEngines(name: string, cases: (engine: Engine) => void): void {
  describe.each(engines)(`${name} ($name)`, (engine) => {
    cases(engine);
  });
}

/**
 * The same on the engine of this run only: on PostgreSQL in the torture. For what reaches the database
 * through code that is tested on every engine.
 */
export function describeEngine(name: string, cases: (engine: Engine) => void): void {
  const engine = isPostgresRun() ? postgres : sqlite;
  describe(`${name} (${engine.name})`, () => {
    cases(engine);
  });
}

/** `it` without what else Vitest's takes; a case that cannot run here is skipped. */
type Case = (title: string, run: () => Promise<void>, canRun?: boolean) => void;

/**
 * `it` for cases that wait for leases, and cost as much on every engine: in a short run, each has one engine by chance
 * and is skipped on the other.
 */
export function oneEngineEach(name: string): (engine: Engine) => Case {
  const random = seededRandom(name);
  const chosen = new Map<string, Engine>();
  return (engine) =>
    (title, run, canRun = true) => {
      const own = chosen.get(title) ?? (random() < 0.5 ? sqlite : postgres);
      chosen.set(title, own);
      it.skipIf(!canRun || (testLevel() !== "long" && own !== engine))(title, run);
    };
}

/** A store on a fresh database. */
export async function openFresh(engine: Engine): Promise<Store> {
  return (await engine.create()).open();
}

/** One store for all cases of a `describe` that store nothing; `fill` stores what they read. */
export function sharedStore(
  engine: Engine,
  fill: (store: Store) => Promise<unknown> = () => Promise.resolve(),
): () => Store {
  const shared = new AsyncDisposableStack();
  const opened: Store[] = [];
  beforeAll(async () => {
    const { location } = shared.use(await createDatabase(engine.name));
    const store = shared.use(await openStoreAt(location));
    await fill(store);
    opened.push(store);
  });
  afterAll(() => shared.disposeAsync());
  return () => opened[0]!;
}

export function newSession(store: Store, input: NewSession = {}): Promise<Session> {
  return store.write(createSession, input);
}

/**
 * Runs one statement, with `?` for each value, as any other program on the same database
 * could. Returns how many rows it changed.
 */
export function execute(
  store: Store,
  statement: string,
  ...values: readonly (string | number | null)[]
): Promise<number> {
  return store.write(async (tx) => {
    let place = 0;
    const text = tx.dialect.writersQueue
      ? statement
      : statement.replaceAll("?", () => `$${(place += 1)}`);
    const { numAffectedRows } = await tx.db.executeQuery(CompiledQuery.raw(text, [...values]));
    return Number(numAffectedRows ?? 0);
  }, null);
}

/** Makes the database refuse changes of a table, with the word "refused". */
export async function refuseRows(
  store: Store,
  rows: { readonly table: string; readonly on: "INSERT" | "UPDATE"; readonly when?: string },
): Promise<Refusing> {
  const { table, on, when = "1 = 1" } = rows;
  const trigger = `CREATE TRIGGER refuse BEFORE ${on} ON ${table}`;
  const isSqlite = await store.write((tx) => Promise.resolve(tx.dialect.writersQueue), null);
  await execute(
    store,
    isSqlite
      ? `${trigger} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'refused'); END`
      : `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
           AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
         ${trigger} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`,
  );
  return {
    stop: () =>
      execute(store, isSqlite ? "DROP TRIGGER refuse" : `DROP TRIGGER refuse ON ${table}`),
  };
}

export interface Refusing {
  stop(): Promise<unknown>;
}

function closedAfterTest(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}
