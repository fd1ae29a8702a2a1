import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

import { APPLICATION_ID } from "./migrate.ts";

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
    const errcode: unknown =
      typeof error === "object" && error !== null ? Reflect.get(error, "errcode") : undefined;
    return { kind: "failed", message, errcode };
  }
}

function copy({ database, partial, timeout }: BackupOrder): BackupAnswer {
  const source = new DatabaseSync(database, { readOnly: true, timeout });
  try {
    if (source.prepare("PRAGMA application_id").get()?.["application_id"] !== APPLICATION_ID) {
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
    const verdict = copied.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"];
    const count = copied.prepare("SELECT count(*) AS sessions FROM sessions").get()?.["sessions"];
    return verdict === "ok" ? { kind: "copied", sessions: Number(count) } : { kind: "damaged" };
  } finally {
    copied.close();
  }
}
