import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { platform } from "node:process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../../../http/listen.ts";
import type { Log } from "../../../http/metrics/request-log.ts";
import { type CliContext, printLines } from "../../process/context.ts";
import { onSignals, stopRequest } from "../../process/signals.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

interface ProcessesOptions {
  readonly processes: number;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
}

/** Time before a process that ended is replaced, and how many are replaced within a minute at most. */
const RESTART_MS = 1000;
const MAX_RESTARTS = 5;
const MINUTE_MS = 60_000;

/**
 * `serve --processes`: so many services on one port. A signal is passed on to all of them. One that
 * ends without being asked to is reported and replaced.
 *
 * Error codes: `invalid_usage`, `address_unavailable`.
 */
export async function serveProcesses(cli: CliContext, options: ProcessesOptions): Promise<void> {
  refuseOtherSystems(platform);
  const { processes, log } = options;
  const port = await freePort(options);
  const children = new Set<Child>();
  const stopping = new AbortController();
  const stopAll = (signal: NodeJS.Signals): void => {
    stopping.abort();
    children.forEach((child) => child.kill(signal));
  };
  const ended: number[] = [];
  const mayRestart = (): boolean => {
    const now = performance.now();
    ended.push(now);
    return ended.filter((at) => now - at < MINUTE_MS).length <= MAX_RESTARTS;
  };

  /** Keeps one running until all are stopped. Returns the exit code of the last one. */
  const keep = async (
    number: number,
    onReady: (lines: readonly string[] | null) => void,
  ): Promise<number> => {
    for (let isFirst = true; ; isFirst = false) {
      const child = start(cli, port, number);
      children.add(child);
      const whenEnded = once(child, "close");
      const lines = await firstLines(child);
      onReady(lines);
      const [code, signal] = (await whenEnded) as [number | null, string | null];
      children.delete(child);
      if (stopping.signal.aborted) {
        return lines === null ? 0 : (code ?? 1);
      }
      const hasBegun = lines !== null || !isFirst;
      const replaced = hasBegun && mayRestart();
      if (hasBegun) {
        const { pid } = child;
        log({
          level: "error",
          event: "process_ended",
          process: number,
          pid,
          code,
          signal,
          replaced,
        });
      }
      if (!replaced) {
        stopAll("SIGTERM");
        return code === 0 ? 1 : (code ?? 1);
      }
      await sleep(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) {
        return 0;
      }
    }
  };

  void stopRequest(cli).then((by) => {
    stopAll(by === "parent_exited" ? "SIGTERM" : by);
    onSignals(cli, stopAll);
  });
  const first = Promise.withResolvers<readonly string[] | null>();
  const kept = [keep(1, first.resolve)];
  // the first one creates or upgrades the database for the others
  let lines = await first.promise;
  if (lines !== null) {
    const others = Array.from({ length: processes - 1 }, (_, index) => {
      const ready = Promise.withResolvers<readonly string[] | null>();
      kept.push(keep(index + 2, ready.resolve));
      return ready.promise;
    });
    lines = (await Promise.all(others)).includes(null) ? null : lines;
  }
  printLines(cli, lines ?? []);
  const codes = await Promise.all(kept);
  cli.exitCode = codes.find((code) => code !== 0) ?? 0;
}

/** Error codes: `invalid_usage`. */
export function refuseOtherSystems(system: string): void {
  if (system !== "linux") {
    throw wrongUsage(
      "Only Linux lets several processes share a port. Leave --processes out, and start nodes on different ports after a proxy.",
    );
  }
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** In a separate process group, so that Ctrl-C reaches it only once. */
function start(cli: CliContext, port: number, number: number): Child {
  const { node, script } = cli.program;
  const shown = cli.stdout.isTTY ? ["--shown"] : [];
  const own = ["--port", String(port), "--process", String(number), ...shown];
  return spawn(node, [script, ...cli.args, ...own], {
    cwd: cli.cwd,
    env: cli.env,
    detached: true,
    // a child stops when its standard input ends: this process may be killed
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/** Reads what it prints once it accepts requests; null if it ends before. */
async function firstLines({ stdout }: Child): Promise<readonly string[] | null> {
  let text = "";
  for await (const chunk of stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (/^version .*\n/m.test(text)) {
      stdout.resume();
      return text.trimEnd().split("\n");
    }
  }
  return null;
}
