import { requireOptions } from "../core/options.ts";
import type { PruneReport } from "../store/checkpoints/threads/prune-free-thread.ts";
import { readThreadStats, type ThreadStats } from "../store/checkpoints/threads/thread-stats.ts";
import { copyThread } from "../store/portable/copy-thread.ts";
import type { OpenStore, Store, StoreOptions } from "../store/store.ts";
import { storeOf } from "../store/store-of.ts";
import { DelegatingSaver } from "./delegating-saver.ts";
import { givenStore, type LazyStore, lazyStore } from "./lazy-store.ts";
import { createCheckpointSaver } from "./saver.ts";
import type { SessionSaver } from "./session-saver.ts";
import { requireThreadId } from "./thread-key.ts";
import {
  deleteOlderThan,
  type DeleteOptions,
  prune,
  type PruneOptions,
  threads,
  type ThreadList,
  type ThreadsOptions,
} from "./thread-operations.ts";

/** How `RepriseSaver` opens its database. */
export interface RepriseSaverOptions extends Omit<StoreOptions, "location"> {
  /**
   * True for graphs that change no stored message in place: all readers get the same frozen messages,
   * otherwise each gets separate ones. An exchange after 5,000 others then takes 3 to 4 times the
   * processor time of one after 300 (LangGraph's reducer included) instead of 3.7 to 8 times.
   */
  readonly frozen?: boolean | undefined;
}

/**
 * LangGraph's checkpoints in a SQLite file or a PostgreSQL database. Each message is stored once in
 * its thread, so an exchange stores the same however long the thread is.
 *
 * The database is opened by the first call, which creates or upgrades it if needed; `end` closes it.
 *
 * Error codes of each call: `database_*`, `config_invalid` for an invalid address or `:memory:`,
 * `shutting_down` after `end`.
 */
export class RepriseSaver extends DelegatingSaver implements AsyncDisposable {
  #store: LazyStore;
  #saver: SessionSaver | null = null;
  #frozen: boolean | undefined;

  /** Takes a file or a `postgres://` address. Nothing is opened yet. */
  constructor(database: string, given: RepriseSaverOptions = {}) {
    super();
    const { frozen, ...options } = requireOptions(given, "invalid_usage");
    this.#frozen = frozen;
    this.#store = lazyStore({ ...options, location: database });
  }

  /** A saver on a store that is open. `end` leaves it open. Error codes: `invalid_usage`. */
  static from(store: OpenStore, options: Pick<RepriseSaverOptions, "frozen"> = {}): RepriseSaver {
    const given = storeOf(store);
    const saver = new RepriseSaver(given.location, options);
    saver.#store = givenStore(given);
    return saver;
  }

  /**
   * Deletes a thread with all that was kept of it. A thread that does not exist is deleted already.
   *
   * Error codes: `thread_of_session`, `invalid_request`, `database_*`.
   */
  override deleteThread(threadId: string | number): Promise<void> {
    return this.#use((saver) => saver.deleteThread(threadId));
  }

  /**
   * Deletes the checkpoints of a thread, with all that only they refer to, except for the latest
   * ones of each branch and what these need to be resumed and continued: open interrupts, subgraphs
   * that are running, the ancestors of delta channels. Do not call it during a run that began at an
   * older checkpoint. A thread that does not exist is pruned already.
   *
   * Error codes: `thread_of_session`, `invalid_request`, `invalid_usage`, `database_*`.
   */
  prune(threadId: string | number, options: PruneOptions = {}): Promise<PruneReport> {
    return this.#use((saver, store) => prune({ saver, store }, threadId, options));
  }

  /**
   * Copies a thread with all its checkpoints and pending writes to a new one, which then goes its
   * own way. The copy of a session's thread belongs to no session.
   *
   * Error codes: `thread_not_found`; `thread_exists`; `thread_of_session` if the new id would be a
   * thread of a session; `invalid_request`; `database_*`.
   */
  copyThread(from: string | number, to: string | number): Promise<void> {
    return this.#use((_, store) =>
      store.write(copyThread, { from: requireThreadId(from), to: requireThreadId(to) }),
    );
  }

  /**
   * Deletes the threads without a session whose latest checkpoint is older than `age` milliseconds,
   * except those that wait for an answer or have tasks that have not run. The age is by the
   * database's clock. Returns how many were deleted, 50 at most in each transaction.
   *
   * Error codes: `invalid_usage`, `database_*`; `database_corrupt`, after the others were deleted,
   * if damaged threads were kept.
   */
  deleteOlderThan(age: number, options: DeleteOptions = {}): Promise<number> {
    return this.#use((_, store) => deleteOlderThan({ store }, age, options));
  }

  /**
   * Lists the threads without a session, the one whose latest checkpoint was stored last first.
   *
   * Error codes: `invalid_usage`, `database_*`.
   */
  threads(options: ThreadsOptions = {}): Promise<ThreadList> {
    return this.#use((_, store) => threads({ store }, options));
  }

  /**
   * How large a thread is, and whether it is interrupted.
   *
   * Error codes: `thread_not_found`, `invalid_request`, `database_*`.
   */
  stats(threadId: string | number): Promise<ThreadStats> {
    return this.#use((_, store) =>
      store.read(readThreadStats, { thread_id: requireThreadId(threadId) }),
    );
  }

  /**
   * Refuses later calls, finishes what was accepted, and closes the database if this saver opened
   * it. Idempotent; `await using` calls it.
   */
  end(): Promise<void> {
    return this.#store.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  protected override delegate<Output>(
    work: (saver: SessionSaver) => Promise<Output>,
  ): Promise<Output> {
    return this.#use(work);
  }

  #use<Output>(work: (saver: SessionSaver, store: Store) => Promise<Output>): Promise<Output> {
    return this.#store.use((store) =>
      work((this.#saver ??= createCheckpointSaver({ store, frozen: this.#frozen })), store),
    );
  }
}
