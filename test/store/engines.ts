import { join } from "node:path";

import { sql } from "kysely";
import { describe, onTestFinished } from "vitest";

import type { Session } from "../../src/core/sessions.ts";
import type { LeaseOwner } from "../../src/store/leases/lease.ts";
import { createSession, type NewSession } from "../../src/store/sessions/create.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { temporaryFolder } from "../helpers/temp.ts";

/** One empty database of an engine, for the test that asked for it. */
export interface TestDatabase {
  /** What a program of `test/fixtures/programs/store-*.ts` takes as its first argument. */
  readonly location: string;
  /** Opens it (once more); closed when the test is done. */
  open(): Promise<Store>;
}

export interface Engine {
  readonly name: string;
  create(): Promise<TestDatabase>;
}

const sqlite: Engine = {
  name: "sqlite",
  create: async () => {
    const location = join(temporaryFolder(), "data", "reprise.db");
    return {
      location,
      open: async () => closedAfterTest(await openSqliteStore({ path: location })),
    };
  },
};

const engines: readonly Engine[] = [sqlite];

/** Somebody who holds a lease. */
export const owner: LeaseOwner = {
  host: "workshop",
  machine: "m1",
  pid: 4711,
  command: "reprise serve",
  since: "2026-01-01T00:00:00.000Z",
};

/** Runs the same cases on every engine, each case on a database of its own. */
export function describeEngines(name: string, cases: (engine: Engine) => void): void {
  describe.each(engines)(`${name} ($name)`, (engine) => {
    cases(engine);
  });
}

/** A store on a fresh database. */
export async function openFresh(engine: Engine): Promise<Store> {
  return (await engine.create()).open();
}

export function newSession(store: Store, input: NewSession = {}): Promise<Session> {
  return store.write(createSession, input);
}

/** Carries out one statement as any other program on the same database could. */
export async function execute(store: Store, statement: string): Promise<void> {
  await store.write(async (tx) => {
    await sql.raw(statement).execute(tx.db);
  }, null);
}

function closedAfterTest(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}
