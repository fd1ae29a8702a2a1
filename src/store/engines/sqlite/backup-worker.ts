import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

import { APPLICATION_ID } from "./migrate.ts";
import { queryValue } from "./statements.ts";

/** What the thread is started with. */
export interface BackupOrder {
  readonly database: string;
  /** An empty file. */
  readonly partial: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** The one message that the thread sends. */
export type BackupAnswer =
  | { readonly kind: "copied"; readonly sessions: number }
  | { readonly kind: "foreign" }
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
    if (queryValue(source, "PRAGMA application_id") !== APPLICATION_ID) {
      return { kind: "foreign" };
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
    const sessions = Number(queryValue(copied, "SELECT count(*) FROM sessions"));
    return isSound ? { kind: "copied", sessions } : { kind: "damaged" };
  } finally {
    copied.close();
  }
}
