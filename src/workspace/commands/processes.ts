import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A process of the system, as far as it is needed to find what a command has started. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Its environment, or a text that holds it; empty if this user may not read it. */
  readonly environment: string;
  /** True for bubblewrap itself: what it ran may have ended an instant before it. */
  readonly isSandbox?: boolean;
}

/** What belongs to a command. */
export interface Family {
  /** The process group that it was started as; null for none. */
  readonly group: number | null;
  /** True for the environment of a process that it has started. */
  readonly isMarked: (environment: string) => boolean;
}

/** Time that processes get to end after SIGTERM. */
const GRACE_MS = 2000;
/** Time after which what does not end by SIGKILL is left to the system: it waits for a device. */
const KILL_MS = 10_000;
const FIRST_POLL_MS = 5;
const LAST_POLL_MS = 100;

/**
 * Ends all processes of a family: by SIGTERM, then by SIGKILL, until there is none. Those that left the group are
 * found by their environment, and by their parents. Returns how many there were, without those of the sandbox itself.
 */
export async function endFamily(
  family: Family,
  { graceMs = GRACE_MS }: { readonly graceMs?: number } = {},
): Promise<number> {
  const seen = new Set<number>();
  let rows = await allProcesses();
  let found = familyOf(rows, family);
  const start = performance.now();
  let poll = FIRST_POLL_MS;
  let isAsked = false;
  while (found.length > 0 && performance.now() - start < graceMs + KILL_MS) {
    const isOver = performance.now() - start >= graceMs;
    const sandboxes = new Set(rows.filter((row) => row.isSandbox).map(({ pid }) => pid));
    for (const pid of found) {
      if (!sandboxes.has(pid)) {
        seen.add(pid);
      }
      if (isOver || !isAsked) {
        sendSignal(pid, isOver ? "SIGKILL" : "SIGTERM");
      }
    }
    isAsked = true;
    await sleep(poll);
    poll = Math.min(2 * poll, LAST_POLL_MS);
    rows = await allProcesses();
    found = familyOf(rows, family);
  }
  return seen.size;
}

/** The processes of a family that are alive. */
export async function findFamily(family: Family): Promise<number[]> {
  return familyOf(await allProcesses(), family);
}

/** Also what a process of the family has started with another environment. */
export function familyOf(rows: readonly ProcessRow[], { group, isMarked }: Family): number[] {
  const found = new Set(
    rows
      .filter((row) => row.group === group || isMarked(row.environment))
      .map(({ pid }) => pid)
      .filter((pid) => pid !== process.pid),
  );
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { pid, parent } of rows) {
      if (found.has(parent)) {
        found.add(pid);
      }
    }
  }
  return [...found];
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended, or belongs to another user
  }
}

function allProcesses(): Promise<readonly ProcessRow[]> {
  return process.platform === "linux" ? processesOfProc() : processesOfPs();
}

async function processesOfProc(): Promise<readonly ProcessRow[]> {
  const entries = await readdir("/proc").catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
      // the name before it may hold anything, also a bracket
      const [state = "", parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (stat === "" || ENDED.includes(state)) {
        return [];
      }
      const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
      const isSandbox = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")) === "bwrap";
      const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
      return [{ ...numbers, environment, isSandbox }];
    }),
  );
  return rows.flat();
}

/** States of a process that has ended and whose parent has not asked for it. */
const ENDED = ["Z", "X", "x"];

/** Also elsewhere than on macOS, for tests. */
export function processesOfPs(): Promise<readonly ProcessRow[]> {
  const all = process.platform === "darwin" ? ["-A", "-E", "-ww"] : ["axeww"];
  return new Promise((resolve) => {
    execFile(
      "ps",
      [...all, "-o", "pid=,ppid=,pgid=,stat=,command="],
      { maxBuffer: 256 * 1024 * 1024, encoding: "latin1" },
      (_, stdout) => resolve(stdout.split("\n").flatMap(rowOfPs)),
    );
  });
}

function rowOfPs(line: string): ProcessRow[] {
  const [, pid, parent, group, state = "", environment = ""] =
    /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s?(.*)$/.exec(line) ?? [];
  return pid === undefined || ENDED.includes(state.slice(0, 1))
    ? []
    : [{ pid: Number(pid), parent: Number(parent), group: Number(group), environment }];
}
