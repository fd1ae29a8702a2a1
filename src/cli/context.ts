import type { Readable, Writable } from "node:stream";

/**
 * What every command receives: the process it runs in, as values. Only `main.ts` reads
 * `process`; a command never does.
 */
export interface CliContext {
  readonly version: string;
  /** What stands behind the program's name. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Where SIGINT, SIGTERM and SIGHUP are heard. */
  readonly signals: Signals;
  readonly pid: number;
  /** Ends the process at once, for when something cannot be waited for. */
  readonly exit: (code: number) => void;
  /** Set by a command that is done but has to say no (`plan validate` with findings: 1). */
  exitCode: number;
}

export interface Signals {
  on(signal: "SIGINT" | "SIGTERM" | "SIGHUP", listener: () => void): unknown;
  off(signal: "SIGINT" | "SIGTERM" | "SIGHUP", listener: () => void): unknown;
}

/** Writes one line to standard output. */
export function printLine(cli: CliContext, line: string): void {
  cli.stdout.write(`${line}\n`);
}

/** Writes one line to standard error: notices and errors, never results. */
export function noticeLine(cli: CliContext, line: string): void {
  cli.stderr.write(`${line}\n`);
}
