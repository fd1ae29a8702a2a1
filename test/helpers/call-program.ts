import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";

import { asksForJson, type CliContext, releaseNotices } from "../../src/cli/process/context.ts";
import { Drawing, type Output, outputTo } from "../../src/cli/process/output.ts";
import { createProgram } from "../../src/cli/program.ts";
import { showError } from "../../src/cli/process/show-error.ts";
import { copyLangGraph, openAgent, openExchanger, tryModel } from "../../src/compose.ts";
import { openStore } from "../../src/store/open-store.ts";

const PACKAGE = new URL("../../package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(PACKAGE, "utf8")) as { version: string };

export interface Called {
  /** The exit code. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CallOptions {
  /** The script that a process would have been started with. */
  readonly script: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  /** Both outputs go to one terminal; what it received is in `stdout`. */
  readonly terminal?: boolean;
  /** Of that terminal: so wide by default that no line wraps. */
  readonly columns?: number;
}

/**
 * Runs a command in this process, as `main.ts` does in its own: no start of Node.js is paid for.
 * For tests whose subject is what a command does, not the process, its signals or its streams.
 */
export async function callProgram(args: readonly string[], options: CallOptions): Promise<Called> {
  const { cli, written } = contextOf(args, options);
  try {
    const program = await createProgram(cli);
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    cli.exitCode = showError(cli, error, asksForJson(args));
  }
  releaseNotices(cli);
  return { code: cli.exitCode, ...written() };
}

/** What a command receives; `written` returns what it wrote. */
export function contextOf(
  args: readonly string[],
  options: CallOptions,
): { readonly cli: CliContext; readonly written: CollectedOutputs["written"] } {
  const { stdout, stderr, written } =
    options.terminal === true ? oneTerminal(options.columns) : twoPipes();
  const cli: CliContext = {
    version,
    args,
    program: { node: process.execPath, script: options.script },
    cwd: options.cwd,
    env: options.env,
    stdin: Readable.from(pieces(Buffer.from(options.input ?? ""))),
    stdout,
    stderr,
    signals: new EventEmitter(),
    held: [],
    pid: process.pid,
    parentPid: () => process.ppid,
    suspend: () => Promise.reject(new Error("this is no terminal")),
    exit: (code) => {
      throw new Error(`the command asked for process.exit(${code}); start a process for this test`);
    },
    openStore,
    openExchanger,
    copyLangGraph,
    tryModel,
    openAgent,
    consent: { forThisRun: "none", named: null },
    exitCode: 0,
  };
  return { cli, written };
}

/** As a pipe hands it over: in pieces, which may end within a character. */
function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_535) {
    yield bytes.subarray(at, at + 65_535);
  }
}

interface CollectedOutputs {
  readonly stdout: Output;
  readonly stderr: Output;
  written(): Pick<Called, "stdout" | "stderr">;
}

function twoPipes(): CollectedOutputs {
  const [stdout, stderr] = [collector(), collector()];
  return { stdout, stderr, written: () => ({ stdout: stdout.text(), stderr: stderr.text() }) };
}

/** What the program writes to a terminal, through the code that cleans it. */
function oneTerminal(columns = 1000): CollectedOutputs {
  let all = "";
  const screen = new Writable({
    write: (bytes: Buffer, _, done) => {
      all += bytes.toString();
      done();
    },
  });
  // of a terminal's stream the program uses nothing else; no text is so long that it needs a pager
  const getWindowSize = (): [number, number] => [columns, 10_000];
  const stream = Object.assign(screen, { isTTY: true, columns, getWindowSize }) as unknown;
  const output = outputTo(stream as typeof process.stdout, {
    onUnread: () => undefined,
    onUnwritable: () => undefined,
  });
  return { stdout: output, stderr: output, written: () => ({ stdout: all, stderr: "" }) };
}

/** An output that is a pipe: nothing is cleaned. */
function collector(): Output & { text(): string } {
  let all = "";
  const add = (text: string | Uint8Array): void => {
    all += typeof text === "string" ? text : Buffer.from(text).toString();
  };
  return {
    text: () => all,
    isTTY: false,
    print: add,
    printRows: (rows) => add(rows.map((row) => `${row}\n`).join("")),
    printJson: add,
    sink: () =>
      new Writable({
        decodeStrings: false,
        write: (piece: string, _, done) => {
          add(piece);
          done();
        },
      }),
    drawing: () => new Drawing(process.stdout),
    markPastes: () => undefined,
    terminal: () => null,
    cover: () => undefined,
  };
}
