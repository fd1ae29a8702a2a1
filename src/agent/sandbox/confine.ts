import { randomUUID } from "node:crypto";
import { realpath, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { isInside } from "../../workspace/files/real-path.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { type ControlPlaces, findControlPlaces } from "../../workspace/places/control-places.ts";
import { isUnreadable } from "../../workspace/places/folder-names.ts";
import { type Launch, SANDBOX_LIMITS, type SandboxLimits } from "../../workspace/sandbox/policy.ts";
import { type Bubblewrap, bubblewrapLaunch } from "../../workspace/sandbox/probe.ts";
import { makeControlGroup, removeGroup } from "./control-group.ts";
import { findHidden, missingCompanions } from "./hidden-places.ts";
import { createTurns } from "./turns.ts";
import { missedPlaces } from "./missed-places.ts";
import { findPrograms } from "./program-folders.ts";
import { isDiskFull, type Exceeded, watchLimits } from "./limits.ts";
import { missedBecause, moveOutNew } from "./move-out.ts";
import { forgetRun, interruptedRuns, keepRunSeen, rememberRun, type Run } from "./runs.ts";

export interface SandboxOptions {
  readonly bubblewrap: Bubblewrap;
  /** The folder for this user's state. */
  readonly state: string;
  /** Variables; only those that give git its configuration, and name programs that git starts, are used. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files and folders of Reprise itself. */
  readonly protectedPaths: readonly string[];
  readonly limits?: Partial<SandboxLimits>;
  /** False to watch processes although there could be a control group. */
  readonly groups?: boolean;
}

/** A command that is ready to run in a sandbox. */
export interface Confined {
  /** What to start instead of the command, as the leader of a process group. */
  readonly launch: Launch;
  /** Begins to enforce the limits; call it at once with the process that was started. */
  watch(pid: number): void;
  /**
   * Call it after the process has ended, or if it could not be started. Moves new files that direct other
   * programs out of the folder.
   */
  finish(): Promise<SandboxResult>;
  /** What of the home the command did not see and its output names, as `~/…`. */
  missed(output: string): readonly string[];
}

export interface SandboxResult {
  /** Why the command was ended, as a sentence; null if no limit was exceeded. */
  readonly ended: string | null;
  /** Sentences for the model and the user about what happened in the folder. */
  readonly notes: readonly string[];
}

/** Puts commands into a sandbox. */
export type Confine = (launch: Launch, place: ConfinedPlace) => Promise<Confined>;

export interface ConfinedPlace {
  readonly folder: string;
  readonly network: boolean;
  /** Paths that the command must not see besides. */
  readonly hidden?: readonly string[];
  /** What of the home it sees besides: paths relative to that. */
  readonly visible?: readonly string[];
  /** Aborting it while another command has its turn in the folder rejects. */
  readonly signal?: AbortSignal;
  readonly limits?: SandboxLimits | undefined;
}

/**
 * Commands in one folder, and those in folders in and above it, run one after the other: another one could change
 * paths while the sandbox of the next one is made. Refuses for the model what cannot be confined; `launch.env` is all that the sandbox sees of
 * the environment.
 */
export function createConfine(options: SandboxOptions): Confine {
  const turns = createTurns();
  return async (launch, { folder: named, network, hidden = [], visible = [], signal, limits }) => {
    const folder = await realpath(named).catch(() => null);
    if (folder === null) {
      throw refusal("the session's folder no longer exists; ask the user to restore it");
    }
    const release = await turns(folder, signal);
    try {
      // a command that had its turn before could have replaced it
      if ((await realpath(named).catch(() => null)) !== folder) {
        throw refusal("the session's folder was replaced meanwhile; ask the user to put it back");
      }
      const given = limits === undefined ? options : { ...options, limits };
      return await confined({ options: given, launch, folder, network, hidden, visible, release });
    } catch (error) {
      release();
      throw error;
    }
  };
}

interface Confining {
  readonly options: SandboxOptions;
  readonly launch: Launch;
  readonly folder: string;
  readonly network: boolean;
  readonly hidden: readonly string[];
  readonly visible: readonly string[];
  readonly release: () => void;
}

async function confined(input: Confining): Promise<Confined> {
  const { options, launch, folder, network, release } = input;
  const { bubblewrap, state, protectedPaths: own } = options;
  const limits = { ...SANDBOX_LIMITS, ...options.limits };
  if (isDiskFull(folder, limits)) {
    throw refusal(`the command was not started: ${SENTENCES.disk(limits)}`);
  }
  const kept = join(state, "sandbox");
  const notes = await finishInterrupted(kept);
  const ownHome = launch.env["HOME"] ?? homedir();
  const [{ hidden, home }, found, absent] = await Promise.all([
    findHidden({
      ...input,
      home: launch.env["HOME"] ?? null,
      own: [...own, state],
      others: input.hidden,
    }),
    findControlPlaces(folder, { user: { home: ownHome, env: options.env } }),
    missingCompanions(own),
  ]);
  refuseUnsafe({ options, folder, found });
  const { places, named, pinned } = found;
  const readOnly = [...places].flatMap(([path, { kind }]) => (kind === "link" ? [] : [path]));
  const id = `reprise-${process.pid}-${randomUUID().slice(0, 8)}`;
  const group = options.groups === false ? null : await makeControlGroup(id, limits);
  const run: Run = {
    folder,
    before: [...places],
    named,
    absent: absent.filter((path) => isInside(folder, path)),
    groups: group?.folders ?? [],
  };
  try {
    await rememberRun(kept, id, run);
  } catch (error) {
    await Promise.all(run.groups.map(removeGroup));
    throw error;
  }
  const [filter, empty] = await Promise.all([
    keepFile(kept, id, { name: "filter", content: bubblewrap.filter }),
    keepFile(kept, id, { name: "empty", content: "" }),
  ]);
  const programs = await findPrograms({
    ...bubblewrap.host,
    path: launch.env["PATH"] ?? "",
    homes: home.homes,
    hidden,
    folder,
  });
  const policy = {
    folder,
    readOnly: readOnly.sort(),
    pinned,
    hidden,
    home,
    programs,
    empty,
    network,
    limits,
  };
  const stopSeen = keepRunSeen(kept, id);
  let watching: ReturnType<typeof watchLimits> | null = null;
  const finish = async (): Promise<SandboxResult> => {
    try {
      stopSeen();
      const exceeded = (await watching?.close()) ?? null;
      await group?.kill();
      return {
        ended: exceeded === null ? null : `the command was ended: ${SENTENCES[exceeded](limits)}`,
        notes: [...notes, ...(await finishRun(kept, id, run))],
      };
    } finally {
      release();
    }
  };
  let finished: Promise<SandboxResult> | undefined;
  return {
    launch: bubblewrapLaunch(bubblewrap, policy, { launch, filter, groups: group?.files ?? [] }),
    watch: (pid) => {
      watching ??= watchLimits({ pid, folder, limits, group });
    },
    finish: () => (finished ??= finish()),
    missed: (output) =>
      missedPlaces(output, {
        homes: home.names,
        seen: [folder, ...home.visible, ...home.links.map(({ path }) => path), ...programs],
      }),
  };
}

/** Written again for each command: nobody can have changed it since. */
async function keepFile(
  kept: string,
  id: string,
  { name, content }: { readonly name: string; readonly content: Buffer | string },
): Promise<string> {
  const [file, temporary] = [join(kept, name), join(kept, `${name}.${id}`)];
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, file);
  return file;
}

/** What has to be done after a command, once nothing of it runs any more. */
async function finishRun(
  kept: string,
  id: string,
  { until, ...run }: Run & { readonly until?: number },
): Promise<readonly string[]> {
  const day = new Date().toISOString().slice(0, 10);
  const to = join(kept, "moved", `${day}-${id}`);
  await Promise.all(run.groups.map(removeGroup));
  const before = { places: new Map(run.before), named: run.named };
  const notes = await moveOutNew({ ...run, before, to, ...(until === undefined ? {} : { until }) });
  await forgetRun(kept, id);
  return notes;
}

/** A process can be busy for so long that it is not seen. */
const UNSEEN_MS = 10_000;

/** The same for commands whose process was killed before it could do so: not for what the user made since. */
async function finishInterrupted(kept: string): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const { id, run, seenMs } of await interruptedRuns(kept)) {
    notes.push(
      ...(await finishRun(kept, id, { ...run, until: seenMs + UNSEEN_MS })).map(
        (note) => `From a command in ${run.folder} that was interrupted: ${note}`,
      ),
    );
  }
  return notes;
}

const SENTENCES: Readonly<Record<Exceeded, (limits: SandboxLimits) => string>> = {
  processes: ({ processes }) => `it had more than ${processes} processes.`,
  files: ({ files }) =>
    `it made more than ${files} files, or another program did on the same disk.`,
  memory: ({ memory }) => `it used more than ${mebibytes(memory)} of memory.`,
  disk: ({ free }) =>
    `the disk of the folder has less than ${mebibytes(free)} or 10,000 files free.`,
  machine: () => "the machine has hardly any memory left.",
};

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MiB`;
}

/** More places would take seconds to mount. */
const MAX_PLACES = 500;

function refuseUnsafe(input: {
  readonly folder: string;
  readonly options: Pick<SandboxOptions, "state" | "protectedPaths">;
  readonly found: ControlPlaces;
}): void {
  const { folder, options, found } = input;
  const own = [options.state, ...options.protectedPaths];
  if (own.some((path) => isInside(path, folder))) {
    throw refusal("the folder belongs to Reprise itself, so no command runs in it");
  }
  const because = unsafeBecause(folder, found);
  if (because !== null) {
    throw refusal(`${because}, so commands cannot run in the sandbox there; ask the user`);
  }
}

/** Why nothing could protect what other programs execute or obey; null if it can. */
function unsafeBecause(folder: string, { places, missed }: ControlPlaces): string | null {
  const [first] = missed;
  if (first !== undefined) {
    return missedBecause(folder, first);
  }
  if ([...places.keys()].some(isUnreadable)) {
    return "the folder has another folder whose name is not UTF-8";
  }
  return places.size > MAX_PLACES
    ? `the folder has more than ${MAX_PLACES} files that other programs execute or obey`
    : null;
}
