import { readFile, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

import { systemCode } from "../../../core/errors.ts";
import { readChangedPaths } from "../../../store/records/file-changes/read.ts";
import { recordFileChanges } from "../../../store/records/file-changes/record.ts";
import {
  isGone,
  type LeaseOwner,
  thisProcess,
} from "../../../store/records/leases/this-process.ts";
import type { Store } from "../../../store/store.ts";
import type { ChangingCall } from "../keeper.ts";
import type { KeptBytes } from "../kept-bytes.ts";
import { findChanges, type FoundChange } from "./find-changes.ts";
import {
  readPacked,
  readSnapshot,
  type Snapshot,
  SNAPSHOT_LIMITS,
  takeSnapshot,
  writeDurably,
} from "./snapshot.ts";
import type { WalkLimits } from "./walk-tree.ts";

/** A call that may change any file of its folder. */
export interface RunningCall extends ChangingCall {
  /** Full paths that are left out. */
  readonly own: readonly string[];
}

/**
 * Runs a command so that what it changes in the folder can be undone: the folder is recorded on the disk before `act` is
 * called, and compared with that when it ends. What other programs change meanwhile counts as changed by the
 * command.
 *
 * Error codes: those of `act`.
 */
export type RecordCommand = <Result>(
  call: RunningCall,
  act: () => Promise<Result>,
) => Promise<Result>;

export interface RecorderOptions {
  readonly store: Pick<Store, "read" | "write">;
  readonly session_id: string;
  /** The number of the exchange. */
  readonly n: () => number;
  /** Null if this machine keeps no bytes: nothing is recorded then. */
  readonly kept: KeptBytes | null;
  readonly limits?: WalkLimits | undefined;
}

/** Record of a command while it runs, and until its changes are stored. */
interface Running {
  readonly call: RunningCall;
  readonly n: number;
  readonly host: string;
  readonly owner: LeaseOwner;
  readonly startedMs: number;
}

const RUNNING = "running.json";
/** How often the file of a running command gets a new time, and how much later its changes may be. */
const TOUCH_MS = 250;
const LATER_MS = 1000;
/** Files that are kept at the same time. */
const TOGETHER = 16;

/** For the commands of one exchange. */
export function createCommandRecorder(options: RecorderOptions): RecordCommand {
  const { kept } = options;
  return async (call, act) => {
    if (kept === null) {
      return act();
    }
    const at = kept.commandFolder(options.session_id);
    const started = await begin({ ...options, kept, at }, call);
    if (started === null) {
      const result = await act();
      const running = { call, n: options.n(), host: hostname() };
      await store(options, running, null, [UNKEPT]).catch(() => undefined);
      return result;
    }
    const { snapshot, running } = started;
    const timer = setInterval(() => void touch(at), TOUCH_MS);
    try {
      return await act();
    } finally {
      clearInterval(timer);
      // changes that are not stored now are stored before the next exchange, or before undoing
      await settleOwn({ ...options, kept, at }, { snapshot, running }).catch(() => undefined);
    }
  };
}

type Recording = RecorderOptions & { readonly kept: KeptBytes; readonly at: string };

/** Null if nothing can be written. */
async function begin(
  recording: Recording,
  call: RunningCall,
): Promise<{ readonly snapshot: Snapshot; readonly running: Running } | null> {
  const { store, session_id, at, kept, limits = SNAPSHOT_LIMITS } = recording;
  try {
    await settleLeft(recording, { isHeld: true });
    const snapshot = await takeSnapshot({
      root: call.root,
      own: new Set([...call.own, kept.folder]),
      at,
      limits,
      touched: () => store.read(readChangedPaths, { session_id, root: call.root }),
    });
    const running: Running = {
      call,
      n: recording.n(),
      host: hostname(),
      owner: thisProcess("command"),
      startedMs: Date.now(),
    };
    await writeDurably(at, RUNNING, JSON.stringify(running));
    return { snapshot, running };
  } catch (error) {
    if (systemCode(error) === undefined) {
      throw error;
    }
    return null;
  }
}

const UNKEPT: Pick<FoundChange, "path" | "before" | "after"> = {
  path: ".",
  before: { kind: "unrecorded", reason: "unkept" },
  after: { kind: "unrecorded", reason: "unkept" },
};

/**
 * Stores what a command has changed whose Reprise was killed, or could not store it; nothing if there is none. Without
 * `isHeld` a command whose process is there is left alone: it may be running.
 */
export async function settleLeft(
  options: Omit<RecorderOptions, "n">,
  { isHeld }: { readonly isHeld: boolean },
): Promise<void> {
  const { kept, session_id } = options;
  if (kept === null) {
    return;
  }
  const at = kept.commandFolder(session_id);
  const running = await readRunning(at);
  if (running === null || !(isHeld || isGone(running.owner))) {
    return;
  }
  const touched = await stat(join(at, RUNNING)).catch(() => null);
  const snapshot = await readSnapshot(at);
  if (snapshot === null || touched === null) {
    await rm(join(at, RUNNING), { force: true });
    return;
  }
  const untilMs = touched.mtimeMs + LATER_MS;
  await settle({ ...options, kept, at }, { snapshot, running, untilMs });
}

/** Null for one that is not there. */
async function readRunning(at: string): Promise<Running | null> {
  try {
    return JSON.parse(await readFile(join(at, RUNNING), "utf8"));
  } catch {
    return null;
  }
}

/** Nothing if another process has taken the session, and has stored what the command had changed. */
async function settleOwn(
  recording: Recording,
  { snapshot, running }: { readonly snapshot: Snapshot; readonly running: Running },
): Promise<void> {
  const left = await readRunning(recording.at);
  if (JSON.stringify(left) === JSON.stringify(running)) {
    await settle(recording, { snapshot, running, untilMs: Number.POSITIVE_INFINITY });
  }
}

/** May be done again: what is stored is not stored twice. */
async function settle(
  { kept, at, limits = SNAPSHOT_LIMITS, ...options }: Omit<Recording, "n">,
  {
    snapshot,
    running,
    untilMs,
  }: { readonly snapshot: Snapshot; readonly running: Running; readonly untilMs: number },
): Promise<void> {
  const { startedMs, call } = running;
  const own = new Set([...call.own, kept.folder]);
  const changes: FoundChange[] = [];
  let waiting: Promise<void>[] = [];
  for await (const change of findChanges(snapshot, { own, at, limits, startedMs, untilMs })) {
    changes.push({ ...change, bytes: null });
    waiting.push(keepBytes({ kept, at, snapshot, ...options }, change));
    if (waiting.length === TOGETHER) {
      await Promise.all(waiting);
      waiting = [];
    }
  }
  await Promise.all(waiting);
  await store(options, running, await kept.place(), changes);
  await rm(join(at, RUNNING), { force: true });
}

async function keepBytes(
  {
    kept,
    at,
    snapshot,
    session_id,
  }: Pick<Recording, "at" | "kept" | "session_id"> & { readonly snapshot: Snapshot },
  { recorded, bytes }: FoundChange,
): Promise<void> {
  const before = recorded === null ? null : await readPacked(at, snapshot, recorded);
  for (const each of [before, bytes]) {
    if (each !== null) {
      await kept.keep(session_id, each);
    }
  }
}

async function store(
  { store, session_id }: Pick<RecorderOptions, "store" | "session_id">,
  { call, n, host }: Pick<Running, "call" | "n" | "host">,
  place: string | null,
  found: readonly Pick<FoundChange, "path" | "before" | "after">[],
): Promise<void> {
  if (found.length > 0) {
    const { call_id, tool, root } = call;
    const changes = found.map(({ path, before, after }) => ({ path, before, after }));
    await store.write(recordFileChanges, {
      session_id,
      n,
      call_id,
      tool,
      root,
      place,
      host,
      changes,
    });
  }
}

async function touch(at: string): Promise<void> {
  const now = new Date();
  await utimes(join(at, RUNNING), now, now).catch(() => undefined);
}
