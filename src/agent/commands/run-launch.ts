import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import type { Launch } from "./launch.ts";
import { endFamily, type Family } from "../../workspace/commands/processes.ts";

export interface RunInput {
  readonly launch: Launch;
  /** Finds what it has started. */
  readonly isMarked: Family["isMarked"];
  readonly timeoutMs: number;
  /** Output after which it is ended. */
  readonly maxBytes: number;
  /** Called once with the process, which leads a process group. */
  readonly onStart?: ((pid: number) => void) | undefined;
  /** Aborting ends it. */
  readonly signal: AbortSignal;
  /** Given on the standard input; none if it is not given. */
  readonly input?: string | undefined;
  /** Called with each piece of output, one after the other. */
  readonly onOutput: (chunk: Buffer, from: "stdout" | "stderr") => Promise<void>;
}

/** How a command ended. */
export interface RunEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it was ended; null if it ended by itself. */
  readonly ended: "time_out" | "output_limit" | "stopped" | null;
  /** Processes that it had left running, which were ended. */
  readonly leftRunning: number;
  readonly durationMs: number;
}

/** Time for the rest of the output, once nothing is left that writes any. */
const REST_MS = 1000;
/** Time for the system to report that the process has ended. */
const EXIT_MS = 5000;

/**
 * Runs a program in a separate session of processes, without a terminal, and returns once it and all that
 * it has started have ended. Rejects if it cannot be started.
 */
export async function runLaunch(input: RunInput): Promise<RunEnd> {
  const { launch, timeoutMs, signal, isMarked } = input;
  const { file, args, cwd, env } = launch;
  const start = performance.now();
  const child = spawn(file, [...args], {
    cwd,
    env: { ...env },
    // setsid: its own group, and no terminal
    detached: true,
    stdio: [input.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const { stdin, stdout, stderr } = child;
  if (stdout === null || stderr === null) {
    throw new Error("The program has no output.");
  }
  // one that does not read its input closes it
  stdin?.on("error", () => undefined);
  stdin?.end(input.input);
  const exit = new Promise<Pick<RunEnd, "code" | "signal">>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  // the pipes stay open as long as any process has them: `close` may come much later
  await once(child, "spawn");
  child.on("error", () => undefined);
  const { pid: group = null } = child;
  if (group !== null) {
    input.onStart?.(group);
  }
  const stop = new AbortController();
  let ended: RunEnd["ended"] = null;
  const end = (why: RunEnd["ended"]): void => {
    ended ??= why;
    stop.abort();
  };
  const onAbort = (): void => end("stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) {
    onAbort();
  }
  const timer = setTimeout(() => end("time_out"), timeoutMs);
  const output = drainBoth(input, { stdout, stderr }, () => end("output_limit"));
  try {
    const first = await Promise.race([exit, aborted(stop.signal)]);
    const others = await endFamily({ group, isMarked });
    if (group !== null && child.exitCode === null && child.signalCode === null) {
      // the system may show no processes, such as without /proc
      endGroup(group);
    }
    const { code, signal: killedBy } = await within(exit, EXIT_MS, { code: null, signal: null });
    await within(output, REST_MS, undefined);
    const durationMs = Math.round(performance.now() - start);
    const leftRunning = first === null ? 0 : others;
    return { code, signal: killedBy, ended, leftRunning, durationMs };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    stdin?.destroy();
    stdout.destroy();
    stderr.destroy();
  }
}

function endGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // nothing is left of it
  }
}

/** Null once the signal is aborted. */
function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(null);
    }
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

async function within<Value>(work: Promise<Value>, ms: number, otherwise: Value): Promise<Value> {
  const timer = new AbortController();
  const late = sleep(ms, otherwise, { signal: timer.signal }).catch(() => otherwise);
  const value = await Promise.race([work, late]);
  timer.abort();
  return value;
}

/** What comes after `maxBytes` is read and dropped. */
async function drainBoth(
  { maxBytes, onOutput }: RunInput,
  streams: Readonly<Record<"stdout" | "stderr", Readable>>,
  onLimit: () => void,
): Promise<void> {
  let bytes = 0;
  let last: Promise<void> = Promise.resolve();
  const drain = async (from: "stdout" | "stderr"): Promise<void> => {
    for await (const chunk of streams[from]) {
      const all = Buffer.from(chunk);
      const piece = all.subarray(0, Math.max(0, maxBytes - bytes));
      bytes += all.length;
      if (piece.length > 0) {
        last = last.then(() => onOutput(piece, from));
        await last;
      }
      if (bytes > maxBytes) {
        onLimit();
      }
    }
  };
  // a stream that is closed before its end has been left by everybody
  const all = (["stdout", "stderr"] as const).map((from) => drain(from).catch(() => undefined));
  await Promise.all(all);
}
