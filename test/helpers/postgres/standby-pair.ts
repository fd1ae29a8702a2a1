import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { connect as connectTo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { onTestFinished } from "vitest";

import { freePort } from "../free-port.ts";
import { databaseUrl, type EmbeddedServer, SETTINGS } from "../postgres-server.ts";
import { startTcpServer, type TcpServer } from "../tcp-server.ts";
import { makeFolder } from "../temp.ts";

/** A server that acknowledges a commit once its standby has it, and that standby. */
export interface StandbyPair {
  /** The address of a database of the primary server. */
  readonly url: string;
  /** The address of the same database of the standby. */
  readonly standbyUrl: string;
  /** Stops the standby, and what is on its way to it; its connections stay open. */
  hang(): void;
  resume(): void;
  /** Ends the wait of every commit that waits for the standby; resolves with how many there were. */
  endWaits(how: WaitEnd): Promise<number>;
  /** Kills the primary with all its processes; what is on its way is lost. */
  kill(): Promise<void>;
  /** Makes the standby the primary, and resolves with its address. */
  promote(): Promise<string>;
}

export type WaitEnd = "pg_terminate_backend" | "pg_cancel_backend";

/** Starts a pair on copies of a server that has crashed; it ends with the test. */
export async function startStandbyPair(
  source: EmbeddedServer,
  database: string,
): Promise<StandbyPair> {
  const folder = makeFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  execFileSync("chmod", ["711", folder.path]);
  const urlAt = (port: number, name: string): string => {
    const address = new URL(databaseUrl(source.url, name));
    address.port = `${port}`;
    return address.href;
  };
  const place = async (name: string) => {
    const data = join(folder.path, name);
    execFileSync("cp", ["-a", join(source.folder, "data"), data]);
    return { source, data, port: await freePort() };
  };
  const standbyPlace = await place("standby");
  const { uid, gid } = statSync(standbyPlace.data);
  writeFileSync(join(standbyPlace.data, "standby.signal"), "");
  execFileSync("chown", [`${uid}:${gid}`, join(standbyPlace.data, "standby.signal")]);

  const primaryPlace = await place("primary");
  const primary = startCopy(primaryPlace, { synchronous_standby_names: "*" });
  await whenReady(urlAt(primaryPlace.port, "postgres"));
  const wire = await startWire(primaryPlace.port);
  const standby = startCopy(standbyPlace, {
    primary_conninfo: conninfo(wire.port, source),
  });
  await whenReady(urlAt(standbyPlace.port, "postgres"));
  const admin = await connect(urlAt(primaryPlace.port, "postgres"));
  while (
    (await admin.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).rowCount === 0
  ) {
    await sleep(20);
  }
  return {
    url: urlAt(primaryPlace.port, database),
    standbyUrl: urlAt(standbyPlace.port, database),
    hang: () => {
      // what is in its sockets would else be read and written when it continues
      for (const socket of wire.sockets) {
        socket.pause();
      }
      signalAll(standby, "SIGSTOP");
    },
    resume: () => {
      signalAll(standby, "SIGCONT");
      for (const socket of wire.sockets) {
        socket.resume();
      }
    },
    endWaits: async (how) => {
      const ended = await admin.query(
        `SELECT ${how}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
      );
      return ended.rowCount ?? 0;
    },
    kill: async () => {
      signalAll(primary, "SIGKILL");
      await gone(primary);
      await wire[Symbol.asyncDispose]();
    },
    promote: async () => {
      const client = await connect(urlAt(standbyPlace.port, "postgres"));
      await client.query("SELECT pg_promote()");
      await client.end();
      return urlAt(standbyPlace.port, database);
    },
  };
}

/** What the standby is sent passes here. */
async function startWire(port: number): Promise<TcpServer> {
  const wire = await startTcpServer((near, { keep }) => {
    const far = keep(connectTo(port, "127.0.0.1"));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes) => to.write(bytes));
      from.once("close", () => to.destroy());
    }
  });
  onTestFinished(() => wire[Symbol.asyncDispose]());
  return wire;
}

interface Copy {
  readonly source: EmbeddedServer;
  readonly data: string;
  readonly port: number;
}

/** Starts the same program as the same user. */
function startCopy(
  { source, data, port }: Copy,
  settings: Readonly<Record<string, string>>,
): ChildProcess {
  const started = readFileSync(join(source.folder, "data", "postmaster.opts"), "utf8");
  const [program = ""] = started.split(' "');
  const options = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const { uid, gid } = statSync(data);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(program, ["-D", data, "-p", `${port}`, ...options], {
    stdio: "ignore",
    ...(isRoot ? { uid, gid } : {}),
  });
  onTestFinished(async () => {
    if (isRunning(child)) {
      signalAll(child, "SIGKILL");
      await gone(child);
    }
  });
  return child;
}

function conninfo(port: number, { url }: EmbeddedServer): string {
  const { username, password } = new URL(url);
  return `host=127.0.0.1 port=${port} user=${username} password='${decodeURIComponent(password)}'`;
}

/** Each process of the server has a separate group. */
function signalAll({ pid = 0 }: ChildProcess, signal: NodeJS.Signals): void {
  const listed = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const children = listed
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
  for (const each of [pid, ...children]) {
    try {
      process.kill(each, signal);
    } catch {
      // it has just ended
    }
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function gone(child: ChildProcess): Promise<void> {
  if (isRunning(child)) {
    await once(child, "exit");
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // the server is killed under it
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function whenReady(url: string): Promise<void> {
  for (;;) {
    try {
      const client = await connect(url);
      await client.end();
      return;
    } catch {
      await sleep(50);
    }
  }
}
