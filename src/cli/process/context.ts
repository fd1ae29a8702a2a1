import type { Readable } from "node:stream";

import type { OpenedAgent, OpenExchanger } from "../../exchange/exchanger.ts";
import type { ModelTrial } from "../../rules/models/trial.ts";
import type { RunTrust } from "../../rules/trust/trust.ts";
import type { CopyLangGraph } from "../../store/portable/thread-copies.ts";
import type { Store, StoreOptions } from "../../store/store.ts";
import type { Output } from "./output.ts";
import { asStarted } from "./started-as.ts";

/** Process that a command runs in, as values. Commands do not read arguments, environment or streams from `process`. */
export interface CliContext {
  readonly version: string;
  /** Arguments after the program's name. */
  readonly args: readonly string[];
  /** Program that runs: Node.js and the script that was given to it. */
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
  /** Lines for standard error that wait until it is known whether a JSON document of an error comes. */
  readonly held: Notice[];
  /** Stops the process, and what was started with it, until the shell continues them. */
  readonly suspend: () => Promise<void>;
  readonly pid: number;
  /** The current value: it changes when the parent exits. */
  readonly parentPid: () => number;
  /** Ends the process at once, for when something cannot be waited for. */
  readonly exit: (code: number) => void;
  /** Consent that the options of this run give; set before anything of a folder is read. */
  consent: Consent;
  /** The rest of the program: see `compose.ts`. */
  readonly openStore: (options: StoreOptions) => Promise<Store>;
  readonly openExchanger: OpenExchanger;
  readonly copyLangGraph: CopyLangGraph;
  /** Loads the agent that `--agent` names, relative to the working folder. */
  readonly openAgent: (cwd: string, reference: string) => Promise<OpenedAgent>;
  /** Sends a model one short message. Error codes: `model_*`, `config_invalid`. */
  readonly tryModel: (trial: ModelTrial) => Promise<void>;
  /**
   * Set by a command that ends without an error but did not succeed (`plan validate` with findings:
   * 1).
   */
  exitCode: number;
}

/** A line of standard error, with what is printed before it. */
interface Notice {
  readonly label: string;
  readonly text: string;
}

/** Consent that a person gave on the command line; nothing of it is kept. */
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

/** Writes one line to standard error: notices and errors, never results. With --json a pipe gets it at the end. */
export function noticeLine(cli: CliContext, line: string): void {
  notice(cli, { label: "", text: line });
}

/** A sentence that is not an error, after `note:`. */
export function note(cli: CliContext, sentence: string): void {
  notice(cli, { label: "note: ", text: asStarted(cli, sentence) });
}

function notice(cli: CliContext, line: Notice): void {
  if (!cli.stderr.isTTY && asksForJson(cli.args)) {
    cli.held.push(line);
  } else {
    printNotice(cli, line);
  }
}

function printNotice({ stderr }: CliContext, { label, text }: Notice): void {
  stderr.print(`${label}${text}\n`);
}

/** As `noticeLine`, at once with --json too: for what is read while the command runs, such as what it waits for. */
export function noticeNow(cli: CliContext, line: string): void {
  printNotice(cli, { label: "", text: line });
}

/** Writes what was held back, once the command has ended without an error. */
export function releaseNotices(cli: CliContext): void {
  for (const line of cli.held.splice(0)) {
    printNotice(cli, line);
  }
}

/** True if the arguments ask for JSON, in whatever form: errors are JSON then, too. */
export function asksForJson(args: readonly string[]): boolean {
  return args.some((arg) => arg === "--json" || arg.startsWith("--json="));
}

/** Writes a value as one line of JSON to standard error. */
export function noticeJson(cli: CliContext, value: unknown): void {
  cli.stderr.printJson(`${JSON.stringify(value)}\n`);
}
