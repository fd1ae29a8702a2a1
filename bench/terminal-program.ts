import { readdirSync, readFileSync } from "node:fs";

import { spawn } from "@lydell/node-pty";

import { tokenAt } from "./token-model.ts";

/** A program in a terminal of 80 columns and 24 rows, whose processor time and memory are read from /proc. */
export interface TerminalProgram extends AsyncDisposable {
  type(keys: string): void;
  /** Resolves once what it wrote since the last call of `mark` matches. */
  until(what: RegExp): Promise<void>;
  /** Forgets what it wrote. */
  mark(): void;
  /** What it wrote since `mark`. */
  written(): string;
  /** Milliseconds of processor time of all its threads since it was started. */
  processorMs(): number;
  /** Megabytes of the resident set. */
  residentMegabytes(): number;
  readonly finished: Promise<void>;
}

/** What gets an answer of one token. */
export const SHORT = "a short answer";
/** The next exchange can begin: in the status line the folder comes after the mode, and not that something works. */
const READY = /⇧⇥[^w~]*(?:~|no folder)/;
const WAIT_MS = 180_000;

export function startInTerminal(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> },
): TerminalProgram {
  const pty = spawn(process.execPath, [...args], {
    name: "xterm-256color",
    cols: 80,
    rows: 24,
    cwd,
    env,
  });
  let pieces: string[] = [];
  let check: () => void = () => undefined;
  let gone = false;
  pty.onData((text) => {
    pieces.push(text);
    check();
  });
  const finished = new Promise<void>((resolve) => {
    pty.onExit(() => {
      gone = true;
      check();
      resolve();
    });
  });
  return {
    type: (keys) => pty.write(keys),
    mark: () => {
      pieces = [];
    },
    written: () => pieces.join(""),
    until: (what) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          clearTimeout(timer);
          check = () => undefined;
        };
        const fail = (why: string): void => {
          stop();
          reject(new Error(`${why}: ${String(what)}\n${pieces.join("").slice(-2000)}`));
        };
        const timer = setTimeout(() => fail("it was never written"), WAIT_MS);
        check = () => {
          // the end is enough: all that is waited for is short
          if (what.test(pieces.slice(-20).join(""))) {
            stop();
            resolve();
          } else if (gone) {
            fail("the program ended");
          }
        };
        check();
      }),
    processorMs: () => {
      const tasks = `/proc/${pty.pid}/task`;
      const nanoseconds = readdirSync(tasks).map((task) =>
        Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]),
      );
      return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
    },
    residentMegabytes: () => {
      const status = readFileSync(`/proc/${pty.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
    },
    finished,
    [Symbol.asyncDispose]: async () => {
      if (!gone) {
        pty.kill("SIGKILL");
      }
      await finished;
    },
  };
}

/** Waits for the prompt and has a first exchange. */
export async function loaded(program: TerminalProgram, args: readonly string[]): Promise<void> {
  await program.until(prompt(args));
  program.mark();
  program.type(`${SHORT}\r`);
  await program.until(end(args, 1));
}

function isPlain(args: readonly string[]): boolean {
  return args.includes("--plain");
}

/** Its first screen. */
export function prompt(args: readonly string[]): RegExp {
  return isPlain(args) ? /> / : READY;
}

/** The last of so many tokens, and the prompt after it. */
export function end(args: readonly string[], tokens: number): RegExp {
  const last = tokenAt(tokens - 1).trim();
  return isPlain(args) ? new RegExp(`${last}[^]*> `) : new RegExp(`${last}[^]*${READY.source}`);
}
