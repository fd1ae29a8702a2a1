import type { Readable } from "node:stream";

import type { OpenedAgent, OpenExchanger } from "../exchange/exchanger.ts";
import type { RunTrust } from "../exchange/trust/trust.ts";
import type { CopyLangGraph } from "../store/portable/thread-copies.ts";
import type { Store, StoreOptions } from "../store/store.ts";
import type { Output } from "./output.ts";
import { asStarted } from "./started-as.ts";

/**
 * What every command receives: the process it runs in, as values. Commands do not read arguments, environment or streams from `process`.
 */
export interface CliContext {
  readonly version: string;
  /** What follows the program's name. */
  readonly args: readonly string[];
  /** What runs: Node.js and the script that was given to it. */
  readonly program: { readonly node: string; readonly script: string };
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & {
    readonly isTTY?: boolean;
    setRawMode?(on: boolean): unknown;
  };
  readonly stdout: Output;
  readonly stderr: Output;
  /** The source of SIGINT, SIGTERM, SIGHUP and SIGTSTP. */
  readonly signals: Signals;
  /** Stops the process, and what was started with it, until the shell continues them. */
  readonly suspend: () => Promise<void>;
  readonly pid: number;
  /** The current value: it changes when the parent exits. */
  readonly parentPid: () => number;
  /** Ends the process at once, for when something cannot be waited for. */
  readonly exit: (code: number) => void;
  /** What the options of this run allow; set before anything of a folder is read. */
  consent: Consent;
  /** The rest of the program: see `compose.ts`. */
  readonly openStore: (options: StoreOptions) => Promise<Store>;
  readonly openExchanger: OpenExchanger;
  readonly copyLangGraph: CopyLangGraph;
  /** Loads the agent that `--agent` names, relative to the working folder. */
  readonly openAgent: (cwd: string, reference: string) => Promise<OpenedAgent>;
  /**
   * Set by a command that ends without an error but did not succeed (`plan validate` with findings:
   * 1).
   */
  exitCode: number;
}

/** What a person allowed on the command line; nothing of it is kept. */
export interface Consent {
  /** `--trust`: the files of the folder that the person is in are used. */
  readonly forThisRun: RunTrust;
  /** The folder of `--repo` in a terminal, else null. */
  readonly named: string | null;
}

export interface Signals {
  on(signal: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGTSTP", listener: () => void): unknown;
  off(signal: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGTSTP", listener: () => void): unknown;
}

/** Writes one line to standard output. */
export function printLine(cli: CliContext, line: string): void {
  cli.stdout.print(`${line}\n`);
}

export function printLines(cli: CliContext, lines: Iterable<string>): void {
  for (const line of lines) {
    printLine(cli, line);
  }
}

/** Writes a value as JSON to standard output: on one line, or indented by so many spaces. */
export function printJson(cli: CliContext, value: unknown, indent?: number): void {
  cli.stdout.printJson(`${JSON.stringify(value, null, indent)}\n`);
}

/** Writes one line to standard error: notices and errors, never results. */
export function noticeLine(cli: CliContext, line: string): void {
  cli.stderr.print(`${line}\n`);
}

/** A sentence that is not an error, after `note:`. */
export function note(cli: CliContext, sentence: string): void {
  noticeLine(cli, `note: ${asStarted(cli, sentence)}`);
}

/** Writes a value as one line of JSON to standard error. */
export function noticeJson(cli: CliContext, value: unknown): void {
  cli.stderr.printJson(`${JSON.stringify(value)}\n`);
}
