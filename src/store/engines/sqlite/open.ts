import { realpathSync } from "node:fs";
import { resolve } from "node:path";

import { closeOnce } from "../closing.ts";
import { createListeners } from "../listeners.ts";
import type { Store } from "../../store.ts";
import { openConnection, type SqliteConnection } from "./connection.ts";
import { openingFailure } from "./failure.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createInodeGuard } from "./inode-guard.ts";
import { createReads } from "./reads.ts";
import { openReady, type SqliteOptions, warnOfLinks } from "./set-up.ts";
import { createWaitingLine } from "./waiting-line.ts";

/**
 * Opens (and if needed makes or upgrades) one SQLite file as the store: one connection that
 * writes, one that reads. Several processes may have the same file open.
 *
 * Error codes: `database_*`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const path = resolve(options.path);
  const { busyTimeoutMs = 5000 } = options;
  const { writer, reader, guard } = await openConnections({ ...options, path, busyTimeoutMs });
  const listeners = createListeners();
  const commits = createGroupCommit({
    connection: writer,
    onCommit: listeners.notify,
    busyTimeoutMs,
    line: createWaitingLine(realpathSync(path)),
    guard,
  });
  const reads = createReads(reader);
  return {
    location: path,
    read: reads.read,
    write: commits.write,
    onCommit: listeners.add,
    mayHaveChanged: reads.mayHaveChanged,
    load: () => {
      const [writing, reading] = [commits.load(), reads.load()];
      return {
        connections: 2,
        idle: [writing, reading].filter(({ busy }) => !busy).length,
        max: 2,
        waiting: writing.waiting + reading.waiting,
      };
    },
    ...closeOnce(async () => {
      await Promise.all([commits.close(), reads.close()]);
      reader.close();
      writer.close();
      guard[Symbol.dispose]();
    }),
  };
}

async function openConnections(options: SqliteOptions & { readonly busyTimeoutMs: number }) {
  const { path, busyTimeoutMs, notice = () => undefined, backup = true } = options;
  const connections: SqliteConnection[] = [];
  try {
    const writer = await openReady({ path, busyTimeoutMs, backup, notice });
    connections.push(writer);
    warnOfLinks({ path, notice });
    // the writer waits for locks without blocking the thread: see write-lock.ts
    writer.raw.exec("PRAGMA busy_timeout = 0");
    const reader = openConnection(path, busyTimeoutMs);
    connections.push(reader);
    reader.raw.exec("PRAGMA query_only = ON");
    return { writer, reader, guard: createInodeGuard(path) };
  } catch (error) {
    for (const connection of connections) {
      connection.close();
    }
    throw openingFailure(error);
  }
}
