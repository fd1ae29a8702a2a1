import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

import { RepriseError, systemCode } from "../../core/errors.ts";
import { SCHEMA_CHECK_MS, SCHEMA_CHECKS } from "../../core/limits.ts";
import type { CheckOrder, Verdict } from "./check-value.ts";
import type { SetSchema } from "./schema-set.ts";
import type { WorkerAnswer } from "./schema-worker.ts";

/** Schemas that are known together; the digest is of their content. */
export interface SchemaSet {
  readonly digest: string;
  readonly schemas: readonly SetSchema[];
}

/** A check that took too long, or too much memory. */
export interface Stopped {
  readonly kind: "stopped";
  readonly reason: string;
}

/**
 * Threads that check values against foreign schemas: a pattern may take for ever, and a thread can
 * be stopped. None is started before the first check. One is kept, and replaced once it was stopped.
 */
export interface WorkerPool {
  /**
   * Runs one check, for `checkMs` at most once its thread has started.
   *
   * Error codes: `schema_checks_busy` while `SCHEMA_CHECKS` others run, `shutting_down` once closed.
   */
  run(set: SchemaSet, order: CheckOrder): Promise<Verdict | Stopped>;
  /** Stops all threads; a check that runs is answered as stopped. */
  close(): Promise<void>;
}

export interface WorkerPoolOptions {
  /** Milliseconds; `SCHEMA_CHECK_MS` by default. */
  readonly checkMs?: number | undefined;
}

export function createWorkerPool({
  checkMs = SCHEMA_CHECK_MS,
}: WorkerPoolOptions = {}): WorkerPool {
  let kept: Thread | null = null;
  let closed = false;
  const running = new Set<Thread>();
  const take = (set: SchemaSet): Thread => {
    if (closed) {
      throw new RepriseError("shutting_down", SHUTTING_DOWN);
    }
    if (running.size >= SCHEMA_CHECKS) {
      throw new RepriseError("schema_checks_busy", BUSY);
    }
    const fits = kept?.digest === set.digest ? kept : null;
    if (fits === null) {
      void kept?.worker.terminate();
    }
    kept = null;
    return fits ?? start(set, checkMs);
  };
  const giveBack = (thread: Thread, set: SchemaSet): void => {
    if (closed || kept !== null) {
      void thread.worker.terminate();
    } else {
      kept = thread.usable ? thread : start(set, checkMs);
    }
    kept?.worker.unref();
  };
  return {
    async run(set, order) {
      const thread = take(set);
      running.add(thread);
      try {
        return await answerOf(thread, order);
      } finally {
        running.delete(thread);
        giveBack(thread, set);
      }
    },
    async close() {
      closed = true;
      const all = [...running, ...(kept === null ? [] : [kept])];
      kept = null;
      await Promise.all(all.map(({ worker }) => worker.terminate()));
    },
  };
}

interface Thread {
  readonly worker: Worker;
  readonly digest: string;
  readonly checkMs: number;
  readonly ready: Promise<WorkerAnswer | Stopped>;
  /** False from an order until its answer, so for good if none comes. */
  usable: boolean;
}

/** Beside this file, and of the same kind: TypeScript, or what is built from it. */
const WORKER = new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url);

/** MiB. */
const MAX_MEMORY = 512;

function start({ digest, schemas }: SchemaSet, checkMs: number): Thread {
  const worker = new Worker(WORKER, {
    workerData: schemas,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY },
  });
  // who waits for an answer listens too; without a listener a thread's failure would end the process
  worker.on("error", () => {});
  const ready = nextAnswer(worker, checkMs);
  ready.catch(() => {});
  return { worker, digest, checkMs, ready, usable: true };
}

async function answerOf(thread: Thread, order: CheckOrder): Promise<Verdict | Stopped> {
  const { worker, ready, checkMs } = thread;
  worker.ref();
  thread.usable = false;
  const loaded = await ready;
  if (loaded.kind === "stopped") {
    return loaded;
  }
  const answer = nextAnswer(worker, checkMs);
  const timer = setTimeout(() => void worker.terminate(), checkMs);
  worker.postMessage(order);
  const verdict = await answer.finally(() => clearTimeout(timer));
  if (verdict.kind === "ready") {
    throw new TypeError("the thread answered before it was asked");
  }
  thread.usable = verdict.kind !== "stopped";
  return verdict;
}

/** The next message of a thread, or how it ended without one. */
async function nextAnswer(worker: Worker, checkMs: number): Promise<WorkerAnswer | Stopped> {
  const over = new AbortController();
  const reason = `took longer than ${checkMs / 1000} s`;
  try {
    return await Promise.race([
      once(worker, "message", over).then(([answer]): WorkerAnswer => answer),
      once(worker, "exit", over).then((): Stopped => ({ kind: "stopped", reason })),
    ]);
  } catch (error) {
    if (systemCode(error) === "ERR_WORKER_OUT_OF_MEMORY") {
      return { kind: "stopped", reason: `needed more than ${MAX_MEMORY} MiB` };
    }
    throw error;
  } finally {
    over.abort();
  }
}

const SHUTTING_DOWN = "The service is shutting down. Use another node, or try again later.";
const BUSY = `${SCHEMA_CHECKS} artifacts are being checked against project schemas already; try again in a few seconds.`;
