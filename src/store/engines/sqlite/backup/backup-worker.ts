import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

import { SESSION_IN_THREAD_ID } from "../../../session-in-thread-id.ts";
import { APPLICATION_ID, EARLIER_APPLICATION_ID } from "../migrate.ts";
import { queryValue } from "../statements.ts";

/** Order with which the thread is started. */
export interface BackupOrder {
  readonly database: string;
  /** An empty file. */
  readonly partial: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Counts of what a backup holds. */
export interface Contents {
  readonly sessions: number;
  /** Threads that belong to no session. */
  readonly threads: number;
}

/** The one message that the thread sends. */
export type BackupAnswer =
  | ({ readonly kind: "copied" } & Contents)
  | { readonly kind: "foreign" }
  | { readonly kind: "too_old" }
  | { readonly kind: "damaged" }
  | { readonly kind: "failed"; readonly message: string; readonly errcode: unknown };

parentPort?.postMessage(answer(workerData as BackupOrder), []);

function answer(order: BackupOrder): BackupAnswer {
  try {
    return copy(order);
  } catch (error) {
    const { message } = error instanceof Error ? error : { message: "unknown" };
    const errcode: unknown = Reflect.get(Object(error), "errcode");
    return { kind: "failed", message, errcode };
  }
}

function copy({ database, partial, timeout }: BackupOrder): BackupAnswer {
  const source = new DatabaseSync(database, { readOnly: true, timeout });
  try {
    const applicationId = queryValue(source, "PRAGMA application_id");
    if (applicationId !== APPLICATION_ID) {
      return { kind: applicationId === EARLIER_APPLICATION_ID ? "too_old" : "foreign" };
    }
    source.prepare("VACUUM INTO ?").run(partial);
  } finally {
    source.close();
  }
  return check(partial);
}

/** A backup that was never read is a hope. */
function check(partial: string): BackupAnswer {
  const copied = new DatabaseSync(partial, { readOnly: true });
  try {
    const isSound = queryValue(copied, "PRAGMA integrity_check(1)") === "ok";
    return isSound ? { kind: "copied", ...contentsOf(copied) } : { kind: "damaged" };
  } finally {
    copied.close();
  }
}

function contentsOf(copied: DatabaseSync): Contents {
  const free = `SELECT count(*) - count(sessions.id) FROM threads
    LEFT JOIN sessions ON sessions.id = ${SESSION_IN_THREAD_ID}`;
  return {
    sessions: Number(queryValue(copied, "SELECT count(*) FROM sessions")),
    threads: Number(queryValue(copied, free)),
  };
}
