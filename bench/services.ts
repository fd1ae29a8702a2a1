import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";

export interface Service extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
}

/** A folder that is gone with its block. */
export function temporaryFolder(within = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(within, "reprise-bench-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Makes an empty database, with the tables and indexes that the service uses. */
export async function makeDatabase(path: string): Promise<string> {
  const store = await openSqliteStore({ path });
  await store.close();
  return path;
}

/** `reprise serve`, as its users start it, on a free port. */
export function startReprise(database: string): Promise<Service> {
  const bin = fileURLToPath(new URL("../bin/reprise.js", import.meta.url));
  return start([bin, "serve", "--port", "0", "--database", database]);
}

/** A program of this folder that prints where it listens. */
export function startProgram(name: string, args: readonly string[] = []): Promise<Service> {
  return start([fileURLToPath(new URL(name, import.meta.url)), ...args]);
}

/** A server that prints where it listens, by its arguments to Node.js. */
export async function start(args: readonly string[]): Promise<Service> {
  const child = spawn(process.execPath, [...nodeOptions(), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, REPRISE_TOKEN: undefined },
  });
  const port = await portOf(child);
  return {
    port,
    pid: child.pid!,
    [Symbol.asyncDispose]: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/** `REPRISE_BENCH_NODE="--cpu-prof"` measures every server under these options of Node.js. */
function nodeOptions(): string[] {
  return process.env["REPRISE_BENCH_NODE"]?.split(" ") ?? [];
}

async function portOf(child: ChildProcess): Promise<number> {
  const gone = once(child, "exit").then(() => {
    throw new Error("a server ended before it listened");
  });
  gone.catch(() => undefined);
  let output = "";
  const listening = new Promise<number>((resolve) => {
    child.stdout!.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port !== undefined) {
        resolve(Number(port));
      }
    });
  });
  return Promise.race([listening, gone]);
}
