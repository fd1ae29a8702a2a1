import { appendFile, mkdir, readFile, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { Conceal } from "../core/secrets.ts";
import type { Server } from "./configured-servers.ts";

/** Bytes of a log; a longer one is replaced, and the one before it is kept. */
const MAX_LOG_BYTES = 256 * 1024;
/** Characters of a line; the rest of it is another line. */
const MAX_LINE = 8 * 1024;
/** Bytes of one run of a server; more are dropped. */
const MAX_RUN_BYTES = 4 * 1024 * 1024;

export function logFile(folder: string, { name, hash }: Pick<Server, "name" | "hash">): string {
  return join(folder, "logs", `${name}-${hash}.log`);
}

/** Keeps what a server writes to its standard error, in whole lines and without secrets. Nothing fails by it. */
export class ServerLog {
  readonly #file: string | null;
  readonly #conceal: Conceal;
  #rest = "";
  #bytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(file: string | null, conceal: Conceal) {
    this.#file = file;
    this.#conceal = conceal;
  }

  push(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#file === null || this.#bytes > MAX_RUN_BYTES) {
      return;
    }
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > MAX_LINE) {
      lines.push(this.#rest);
      this.#rest = "";
    }
    this.#write(lines);
  }

  /** Returns once all is written. */
  async close(): Promise<void> {
    if (this.#rest !== "") {
      this.#write([this.#rest]);
      this.#rest = "";
    }
    await this.#last;
  }

  #write(lines: readonly string[]): void {
    const file = this.#file;
    if (lines.length > 0 && file !== null) {
      const text = lines.map((line) => `${this.#conceal(line).slice(0, MAX_LINE)}\n`).join("");
      this.#last = this.#last.then(() => append(file, text)).catch(() => undefined);
    }
  }
}

async function append(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const size = await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) {
    await rename(file, `${file}.1`);
  }
  await appendFile(file, text, { mode: 0o600 });
}

/** Returns the log with the one before it; empty if there is none. */
export async function readLog(file: string): Promise<string> {
  const read = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
  return (await read(`${file}.1`)) + (await read(file));
}
