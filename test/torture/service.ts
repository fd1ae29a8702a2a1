import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));

/** The real service: `reprise serve` as a separate process. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** All that it wrote to standard error. */
  log(): string;
  /** Ends it (SIGTERM if no signal is named) and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ServiceOptions {
  readonly database: string;
  /** More arguments for `serve`; `--log` among them logs every request. */
  readonly args?: readonly string[];
  /** The program; that of this checkout if it is not given. */
  readonly bin?: string;
  /** Run as another user (only root may). */
  readonly uid?: number;
  /** Of that user; the home of the tests if it is not given. */
  readonly home?: string;
}

/** Starts the service. Rejects with what it wrote to standard error if it ends at once. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const child = spawn(
    process.execPath,
    [
      options.bin ?? BIN,
      "serve",
      "--port",
      "0",
      "--database",
      options.database,
      ...(options.args ?? []),
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        REPRISE_TOKEN: undefined,
        ...(options.home === undefined ? {} : { HOME: options.home }),
      },
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    },
  );
  let log = "";
  let printed = "";
  const gone = once(child, "close");
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    log += piece;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      printed += piece;
      const match = /listening on (\S+)\n/.exec(printed);
      if (match?.[1] !== undefined) {
        resolve(match[1]);
      }
    });
    child.once("close", () => reject(new Error(log)));
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
    }
    await gone;
  };
  return { url, pid: child.pid ?? -1, log: () => log, stop, [Symbol.asyncDispose]: () => stop() };
}

/** Memory that a process holds now, in bytes; null if the system does not report it. */
export function residentBytes(pid: number): number | null {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) {
    return null;
  }
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, "utf8"))?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** A fresh folder that is removed with everything in it. */
export function tortureFolder(): Disposable & { readonly path: string } {
  return mkdtempDisposableSync(join(tmpdir(), "reprise-torture-"));
}
