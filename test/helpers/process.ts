import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";

/** Compiled modules, kept between processes: most of them then start in half of the time. */
const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/reprise", import.meta.url));

export interface Finished {
  /** The exit code; null for a process that a signal ended. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it wrote so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves once the process is gone and its output is read. Never rejects for an exit code. */
  readonly finished: Promise<Finished>;
  /** Resolves with the match once standard output matches; rejects if the process ends before. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal (SIGKILL if none is named) and waits until the process is gone. */
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

export interface ProcessOptions {
  readonly cwd?: string;
  /** Added to this process's environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Run as another user (only root may). */
  readonly uid?: number;
  /** Written to standard input, which is then closed. Without it, input stays open for `child`. */
  readonly input?: string | Uint8Array;
  /** Runs on when the test is done: who started it, in a hook for example, stops it. */
  readonly isShared?: boolean;
}

/** Starts a real process; one that still runs when the test is done is killed. */
export function startProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Running {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...options.env },
    stdio: "pipe",
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output.stderr += chunk));
  // a program that ends without reading its input is not a failure of the test
  child.stdin.on("error", () => undefined);
  if (options.input !== undefined) {
    child.stdin.end(options.input);
  }
  const finished = whenGone(child, output);
  finished.catch(() => undefined);
  const running: Running = {
    child,
    pid: child.pid ?? -1,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    finished,
    waitFor: (pattern) => waitFor(child, { pattern, output }),
    stop: (signal = "SIGKILL") => {
      child.kill(signal);
      return finished;
    },
  };
  if (options.isShared === true) {
    return running;
  }
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      await running.stop();
    }
  });
  return running;
}

async function whenGone(
  child: ChildProcess,
  output: { stdout: string; stderr: string },
): Promise<Finished> {
  await once(child, "close");
  return { code: child.exitCode, signal: child.signalCode, ...output };
}

function waitFor(
  child: ChildProcess,
  input: { pattern: RegExp; output: { stdout: string; stderr: string } },
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = (): boolean => {
      const match = input.pattern.exec(input.output.stdout);
      if (match === null) {
        return false;
      }
      child.stdout?.off("data", look);
      resolve(match);
      return true;
    };
    if (look()) {
      return;
    }
    child.stdout?.on("data", look);
    child.once("close", () => {
      if (!look()) {
        reject(
          new Error(
            `the process ended before its output matched ${input.pattern}: ${input.output.stdout}${input.output.stderr}`,
          ),
        );
      }
    });
  });
}
