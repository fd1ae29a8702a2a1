import { type StatsFs, statfsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { freemem } from "node:os";

import { systemCode } from "../../core/errors.ts";
import type { SandboxLimits } from "../../workspace/sandbox/policy.ts";
import type { ControlGroup } from "./control-group.ts";

/** What a command had too much of, or left too little of. */
export type Exceeded = "processes" | "memory" | "files" | "disk" | "machine";

/** Without a control group, a command ends before the whole machine has less memory than this. */
const MIN_MACHINE_MEMORY = 256 * 1024 * 1024;
const MIN_FREE_FILES = 10_000;
const POLL_MS = 100;

export interface WatchedCommand {
  /** The process of bubblewrap: all others end with it. */
  readonly pid: number;
  readonly folder: string;
  readonly limits: SandboxLimits;
  readonly group: ControlGroup | null;
}

/** Watches a command until `close`, and ends it with all that it started once it exceeds a limit. */
export function watchLimits(command: WatchedCommand): { close(): Promise<Exceeded | null> } {
  const filesBefore = filesOn(command.folder);
  let exceeded: Exceeded | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let last = Promise.resolve();
  const poll = async () => {
    exceeded ??= await exceededBy(command, filesBefore);
    if (exceeded !== null) {
      await command.group?.kill();
      endGroup(command.pid);
    }
    if (!isClosed) {
      timer = setTimeout(start, POLL_MS);
    }
  };
  const start = () => {
    last = poll();
  };
  start();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await last;
      return exceeded ?? (await command.group?.exceeded()) ?? null;
    },
  };
}

/** Whether too little is left on the disk of a folder for a command to start or continue. */
export function isDiskFull(folder: string, { free }: Pick<SandboxLimits, "free">): boolean {
  const disk = diskOf(folder);
  if (disk === null) {
    return false;
  }
  const { bavail, bsize, files, ffree } = disk;
  // some file systems count no files
  return bavail * bsize < free || (files > 0 && ffree < MIN_FREE_FILES);
}

/** Files on the disk of a folder, of every program; 0 if the file system does not count them. */
function filesOn(folder: string): number {
  const disk = diskOf(folder);
  return disk === null ? 0 : disk.files - disk.ffree;
}

/** Null while nothing has the folder's name: somebody moves or removes it while a command runs in it. */
function diskOf(folder: string): StatsFs | null {
  try {
    return statfsSync(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") {
      return null;
    }
    throw error;
  }
}

async function exceededBy(
  { pid, folder, limits, group }: WatchedCommand,
  filesBefore: number,
): Promise<Exceeded | null> {
  if (isDiskFull(folder, limits)) {
    return "disk";
  }
  if (filesOn(folder) - filesBefore > limits.files) {
    return "files";
  }
  if (group !== null) {
    return group.exceeded();
  }
  if (freemem() < MIN_MACHINE_MEMORY) {
    return "machine";
  }
  const pids = await startedBy(pid);
  return pids.length > limits.processes
    ? "processes"
    : (await memoryOf(pids, limits.memory)) > limits.memory
      ? "memory"
      : null;
}

/** The process and all that it and they started. */
async function startedBy(pid: number): Promise<number[]> {
  const found = [pid];
  for (let at = 0; at < found.length; at += 1) {
    const tasks = `/proc/${found[at]}/task`;
    for (const task of await readdir(tasks).catch(() => [])) {
      const children = await readFile(`${tasks}/${task}/children`, "utf8").catch(() => "");
      found.push(...children.split(" ").filter(Boolean).map(Number));
    }
  }
  return found;
}

/** In bytes. The first, fast count takes shared memory several times; the exact one is slow. */
async function memoryOf(pids: readonly number[], limit: number): Promise<number> {
  const fast = await sumOf(pids, "status", /^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm);
  if (fast <= limit) {
    return fast;
  }
  const exact = await sumOf(pids, "smaps_rollup", /^Pss_(?:Anon|Shmem):\s+(\d+) kB$/gm);
  return exact === 0 ? fast : exact;
}

async function sumOf(pids: readonly number[], file: string, line: RegExp): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    for (const [, kib = "0"] of text.matchAll(line)) {
      sum += Number(kib) * 1024;
    }
  }
  return sum;
}

function endGroup(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // it has ended, or leads no group
    }
  }
}
