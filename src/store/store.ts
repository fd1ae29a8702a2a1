import type { PreparedQuery, QueryParts } from "./prepared.ts";

/**
 * Open transaction of an operation. `touch` names a session in which readers will find something new once the
 * transaction is committed.
 */
export interface Tx extends QueryParts {
  /** Runs a prepared query; one that returns nothing gives no rows. */
  rows<Values, Row>(query: PreparedQuery<Values, Row>, values: Values): Promise<readonly Row[]>;
  touch(sessionId: string): void;
}

/**
 * Piece of work on the store: one transaction, plain data in and out, the same on every engine. It may wait for
 * nothing but `tx.db`, because other operations wait for it, and it keeps nothing outside `tx`, because it may be
 * rolled back.
 */
export type Operation<Input, Output> = (tx: Tx, input: Input) => Promise<Output>;

/**
 * The sessions that a committed write touched, each by its id or by a name of `hints.ts`, which says more.
 * They are hints: they say what to read.
 */
export type CommitListener = (hints: ReadonlySet<string>) => void;

/** A store that is only read and stays unchanged: neither created nor upgraded. */
export type ReadOnlyStore = Pick<Store, "location" | "read" | "close"> & AsyncDisposable;

/**
 * An open database, as programs have it: they pass it to functions of Reprise. Its operations are not
 * public. See `storeOf`.
 */
export interface OpenStore extends AsyncDisposable {
  /** Where the data is, for people: a path or an address without the password. */
  readonly location: string;

  /** Finishes what was accepted, refuses what comes later (`shutting_down`), closes. Idempotent. */
  close(): Promise<void>;
}

/**
 * The database of sessions. Two engines implement it: `openSqliteStore` and, for several
 * nodes, PostgreSQL.
 *
 * What both promise:
 * - `write` answers after its transaction is durable, or rejects and has changed nothing.
 * - An operation that throws undoes itself alone, whatever it was grouped with.
 * - `read` sees one consistent state: everything acknowledged before it began.
 * - Failures of the database are RepriseErrors with a `database_*` code.
 */
export interface Store extends OpenStore {
  read<Input, Output>(operation: Operation<Input, Output>, input: Input): Promise<Output>;
  write<Input, Output>(operation: Operation<Input, Output>, input: Input): Promise<Output>;

  /**
   * Calls the listener after each commit of this process that touched a session. Returns the
   * function that stops it. Commits of other processes are not heard: poll `mayHaveChanged`.
   */
  onCommit(listener: CommitListener): () => void;

  /** False only when nothing was committed by anyone since the last call. Costs microseconds. */
  mayHaveChanged(): Promise<boolean>;

  /** How busy the database's connections are at this moment. Asks nobody. */
  load(): StoreLoad;
}

export interface StoreOptions {
  /** A file, or a postgres:// address. */
  readonly location: string;
  /** False to upgrade a SQLite file of an older version without a copy beside it. */
  readonly backup?: boolean;
  /** Called with what a person should know about the database. */
  readonly notice?: (sentence: string) => void;
}

/** Connections of this process for its operations, and what waits for one. */
export interface StoreLoad {
  /** Connections that are open, and how many of them are idle. */
  readonly connections: number;
  readonly idle: number;
  /** The largest number that may be open. */
  readonly max: number;
  /** Operations that wait for their turn. */
  readonly waiting: number;
}
