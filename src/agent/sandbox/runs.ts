import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

import { isGone, type LeaseOwner, thisProcess } from "../../store/records/leases/this-process.ts";
import type { ControlPlace } from "../../workspace/places/known-places.ts";
import type { NamedPath } from "../../workspace/places/named-by-git.ts";

/** What has to be done after a command, also if the process that ran it is killed. */
export interface Run {
  /** The real path of the folder that the command could change. */
  readonly folder: string;
  /** What directed other programs there before. */
  readonly before: readonly (readonly [string, ControlPlace])[];
  /** What git's configuration named there. */
  readonly named: readonly NamedPath[];
  /** Files that must not appear: they belong to a database in the folder. */
  readonly absent: readonly string[];
  /** The folders of its control groups. */
  readonly groups: readonly string[];
}

interface StoredRun extends Run {
  readonly owner: LeaseOwner;
}

/** Keeps it in the state folder until `forgetRun`. */
export async function rememberRun(state: string, id: string, run: Run): Promise<void> {
  const folder = join(state, "running");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stored: StoredRun = { owner: thisProcess("sandbox"), ...run };
  await writeFile(join(folder, `${id}.json`), JSON.stringify(stored), { mode: 0o600 });
}

export async function forgetRun(state: string, id: string): Promise<void> {
  await rm(join(state, "running", `${id}.json`), { force: true });
}

const SEEN_EVERY_MS = 1000;

/** Records that the process of a run is alive, until the result is called. */
export function keepRunSeen(state: string, id: string): () => void {
  const file = join(state, "running", `${id}.json`);
  const timer = setInterval(() => {
    const now = new Date();
    // forgotten, or the disk is full: then it was seen earlier
    utimes(file, now, now).catch(() => undefined);
  }, SEEN_EVERY_MS);
  return () => clearInterval(timer);
}

export interface InterruptedRun {
  readonly id: string;
  readonly run: Run;
  /** When its process was alive for the last time, in milliseconds since 1970. */
  readonly seenMs: number;
}

/** The runs whose process of this machine was killed. */
export async function interruptedRuns(state: string): Promise<readonly InterruptedRun[]> {
  const folder = join(state, "running");
  const names = await readdir(folder).catch(() => []);
  const runs = names.map(async (name) => {
    const path = join(folder, name);
    const run = await readRun(path);
    const seen = await stat(path).catch(() => null);
    return run !== null && seen !== null && isOver(run.owner)
      ? [{ id: name.replace(/\.json$/, ""), run, seenMs: seen.mtimeMs }]
      : [];
  });
  return (await Promise.all(runs)).flat();
}

/** Null for one that is being written, or was not written to its end. */
async function readRun(path: string): Promise<StoredRun | null> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return null;
  }
}

/** Nothing runs any more from before the machine was started again. */
function isOver(owner: LeaseOwner): boolean {
  const bootOf = (machine: string) => machine.split(" ")[0];
  return (
    isGone(owner) ||
    (owner.host === hostname() && bootOf(owner.machine) !== bootOf(thisProcess("").machine))
  );
}
