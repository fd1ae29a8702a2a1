import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

import { sql } from "kysely";

import { isPostgres } from "../../../src/store/location.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Running } from "../../helpers/process.ts";

/**
 * Stops a process (SIGSTOP) and waits until the database has done what it had been sent: what the
 * process holds stays what it is from then on.
 */
export async function freeze(store: Store, location: string, { child, pid }: Running) {
  child.kill("SIGSTOP");
  while (!isStopped(pid)) {
    await sleep(1);
  }
  // twice: what the database has just taken from a connection is not seen at once
  for (let quiet = 0; isPostgres(location) && quiet < 2;) {
    await sleep(5);
    const connections = await connectionsOf(store, pid);
    quiet = connections.some(({ is_active }) => is_active) || hasUnread(pid) ? 0 : quiet + 1;
  }
}

/** As `freeze`, outside any transaction that writes: in one, it would rightly hold up everybody else. */
export async function freezeAtRest(store: Store, location: string, running: Running) {
  for (let runMs = 50; ; runMs = Math.min(2 * runMs, 1000)) {
    await freeze(store, location, running);
    const isAtRest = isPostgres(location)
      ? !(await connectionsOf(store, running.pid)).some(({ has_written }) => has_written)
      : mayWrite(location);
    if (isAtRest) {
      return;
    }
    running.child.kill("SIGCONT");
    // long enough to finish what it does and to renew its leases, also on a busy machine
    await sleep(runMs);
  }
}

function isStopped(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

function mayWrite(location: string): boolean {
  using file = new DatabaseSync(location, { timeout: 0 });
  try {
    file.exec("BEGIN IMMEDIATE; ROLLBACK");
    return true;
  } catch {
    return false;
  }
}

/** The connections of a process, as PostgreSQL sees them. */
async function connectionsOf(store: Store, pid: number) {
  const ports = portsOf(pid);
  const { rows } = await store.read(
    ({ db }) =>
      sql<{ client_port: number; is_active: boolean; has_written: boolean }>`
        SELECT client_port, backend_xid IS NOT NULL AS has_written,
          state = 'active' AND wait_event_type IS DISTINCT FROM 'Lock' AS is_active
        FROM pg_stat_activity WHERE datname = current_database()`.execute(db),
    null,
  );
  return rows.filter(({ client_port }) => ports.has(client_port));
}

/** Whether the other end has not yet read all that a process has sent. */
function hasUnread(pid: number): boolean {
  const ports = portsOf(pid);
  return connectionTable(pid).some(
    ({ remote, unread }) => ports.has(remote) && Number.parseInt(unread, 16) > 0,
  );
}

/** The TCP connections of the machine, as `/proc` has them. */
function connectionTable(pid: number) {
  const lines = readFileSync(`/proc/${pid}/net/tcp`, "utf8").trim().split("\n").slice(1);
  return lines.map((line) => {
    const [, local = "", remote = "", , queues = "", , , , , inode = ""] = line.trim().split(/\s+/);
    return { local: portOf(local), remote: portOf(remote), unread: queues.slice(-8), inode };
  });
}

function portOf(address: string): number {
  return Number.parseInt(address.split(":")[1] ?? "", 16);
}

/** The local ports of a process's TCP connections. */
function portsOf(pid: number): ReadonlySet<number> {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      } catch {
        return undefined;
      }
    }),
  );
  return new Set(
    connectionTable(pid)
      .filter(({ inode }) => sockets.has(inode))
      .map(({ local }) => local),
  );
}
