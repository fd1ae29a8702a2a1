import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

import { type Measurement, median } from "./measurement.ts";

const OTHERS = ["pi", "codex"];
const ROUNDS = 5;
/** Milliseconds without output after which a first screen is whole, and for which it is waited for at most. */
const QUIET_MS = 1000;
const WAIT_MS = 30_000;

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface FirstScreen {
  readonly ms: number;
  readonly megabytes: number;
}

/**
 * The first screen of a command, with its arguments, beside those of other agents' terminals, all measured in the same
 * way. Those that are not installed are left out.
 */
export async function besideOtherTerminals(
  own: readonly [string, ...string[]],
  place: Place & { readonly scale: number },
): Promise<Measurement[]> {
  const lines: Measurement[] = [];
  for (const name of OTHERS) {
    if (spawnSync(name, ["--version"]).error !== undefined) {
      console.error(`${name} is not installed: it is left out`);
      continue;
    }
    const ours: FirstScreen[] = [];
    const theirs: FirstScreen[] = [];
    for (let round = 0; round < Math.max(1, Math.round(ROUNDS * place.scale)); round += 1) {
      theirs.push(await firstScreen([name], place));
      ours.push(await firstScreen(own, place));
    }
    const line = (what: string, unit: string, of: (screen: FirstScreen) => number) => ({
      what: `${what}, beside ${name}`,
      unit,
      ours: median(ours.map(of)),
      floor: median(theirs.map(of)),
      reach: null,
    });
    lines.push(
      line("first screen, until no more is drawn", "ms", ({ ms }) => ms),
      line("memory of all processes then", "MB", ({ megabytes }) => megabytes),
    );
  }
  return lines;
}

/** Runs a command in a terminal that answers its questions, until it has drawn its first screen. */
async function firstScreen(
  [file, ...args]: readonly [string, ...string[]],
  { cwd, env }: Place,
): Promise<FirstScreen> {
  const terminal = new xterm.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  const begun = performance.now();
  const pty = spawn(file, args, { name: "xterm-256color", cols: 80, rows: 24, cwd, env });
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  let quiet: NodeJS.Timeout | undefined;
  let last = begun;
  const limit = setTimeout(() => end(last), WAIT_MS);
  terminal.onData((answer) => pty.write(answer));
  pty.onData((text) => {
    last = performance.now();
    terminal.write(text);
    clearTimeout(quiet);
    quiet = setTimeout(() => end(last), QUIET_MS);
  });
  const gone = new Promise((resolve) => pty.onExit(resolve));
  const at = await ended;
  clearTimeout(limit);
  const megabytes = residentMegabytes(pty.pid);
  pty.kill("SIGKILL");
  await gone;
  clearTimeout(quiet);
  terminal.dispose();
  return { ms: at - begun, megabytes };
}

/** Of a process and those that it has started. */
function residentMegabytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const own = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" "))
      .filter((child) => child !== "")
      .reduce((sum, child) => sum + residentMegabytes(Number(child)), own);
  } catch {
    // it has just ended
    return 0;
  }
}
