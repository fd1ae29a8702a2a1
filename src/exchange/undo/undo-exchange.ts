import { join, resolve, sep } from "node:path";

import { RepriseError, systemCode } from "../../core/errors.ts";
import type { UndoInfo } from "../../core/schemas/file-change-schemas.ts";
import { isSameEntry } from "../../core/files/file-entries.ts";
import { LEASE_MS } from "../../core/limits.ts";
import type { Session } from "../../core/sessions.ts";
import {
  type ChangedExchange,
  type FileChange,
  listChangedExchanges,
  readFileChanges,
} from "../../store/records/file-changes/read.ts";
import { markUndone } from "../../store/records/file-changes/record.ts";
import { readLease } from "../../store/records/leases/lease.ts";
import { thisProcess } from "../../store/records/leases/this-process.ts";
import { storeConsent } from "../../store/records/sessions/consents.ts";
import { resolveSession } from "../../store/records/sessions/read.ts";
import type { Store } from "../../store/store.ts";
import { holdLease } from "../lease-holder.ts";
import { readConceal, type Secrets } from "../../core/secrets.ts";
import { settleLeft } from "../../workspace/undo/commands/record-command.ts";
import { settleTree } from "../../workspace/undo/commands/settle-tree.ts";
import type { KeptBytes } from "../../workspace/undo/kept-bytes.ts";
import { type NetChange, netChanges } from "../../workspace/undo/net-changes.ts";
import {
  type Direction,
  judgeFolders,
  leftBy,
  planStep,
  replacedFolders,
  restore,
  type Step,
} from "../../workspace/undo/restore.ts";
import { type Principal, consenterOf } from "../../core/principal.ts";

export interface UndoOptions {
  readonly store: Store;
  /** Null if this machine keeps no bytes. */
  readonly kept: KeptBytes | null;
  /** They are replaced in diffs; none by default. */
  readonly secrets?: Secrets | undefined;
  /** The name of the command, shown if the session is busy. */
  readonly command: string;
}

export interface UndoExchange {
  /** A session by its id, or the first 6 or more characters of it. */
  readonly reference: string;
  /** Without it, the last one that changed files and is not undone; to redo, the one that was undone last. */
  readonly n?: number | undefined;
  readonly direction: Direction;
  /** Only these paths. */
  readonly files?: readonly string[] | undefined;
  readonly dry_run?: boolean | undefined;
  readonly principal?: Principal | undefined;
}

/**
 * Takes back what an exchange and its sub-agents changed in files, or makes it again: bytes, permission bits and
 * links, and no file that is not exactly as the exchange left it. Each file is put back on its own, all at once and
 * on the disk; killed in the middle, the same can be done again. Nobody else works in the session meanwhile.
 *
 * Error codes: `session_not_found`, `ambiguous_id`, `session_busy`, `nothing_to_undo`, `changes_elsewhere` if this
 * machine keeps none of it, `invalid_request` for a path that is not among the changes.
 */
export async function undoExchange(options: UndoOptions, input: UndoExchange): Promise<UndoInfo> {
  const { store } = options;
  const session = await store.read(resolveSession, { reference: input.reference });
  const changesNothing = input.dry_run === true || session.state === "ended";
  return alone(options, session, { needsLease: !changesNothing }, () =>
    work(options, session, input),
  );
}

/** Does something about the changes of a session while nobody else works in it, once all of them are known. */
export async function alone<Result>(
  options: UndoOptions,
  { id: session_id }: Session,
  { needsLease }: { readonly needsLease: boolean },
  act: () => Promise<Result>,
): Promise<Result> {
  if (!needsLease) {
    await settleTree(options, session_id);
    return act();
  }
  const held = await holdLease({
    store: options.store,
    session_id,
    owner: thisProcess(options.command),
    life_ms: LEASE_MS,
    when_busy: "refuse",
    signal: new AbortController().signal,
  });
  try {
    await settleLeft({ ...options, session_id }, { isHeld: true });
    await settleTree(options, session_id);
    return await act();
  } finally {
    await held.release({ finished: false, end: null });
  }
}

/**
 * Undoes one exchange, or only plans it. `earlier` are the steps that were planned for later exchanges and not done: what
 * they leave counts as what is there, and the steps of this one are added.
 */
export async function work(
  { store, kept, secrets }: UndoOptions,
  session: Session,
  { direction, files, dry_run = false, ...input }: UndoExchange,
  earlier: Step[] = [],
): Promise<UndoInfo> {
  const n = input.n ?? (await defaultExchange(store, session, direction));
  const changes = await store.read(readFileChanges, { session_id: session.id, n });
  if (changes.length === 0) {
    throw nothingTo(direction, `Exchange ${n} changed no files`);
  }
  await refuseBusy(store, session, changes);
  if (kept === null || (await isElsewhere(kept, changes))) {
    throw elsewhere(changes);
  }
  const nets = netChanges(changes);
  const named = files === undefined ? nets : nets.filter((net) => isNamed(net, files));
  if (files?.some((file) => !nets.some((net) => isNamed(net, [file]))) === true) {
    throw new RepriseError(
      "invalid_request",
      "A path is not among the files that the exchange changed, nor a folder above one of them. Write it relative to the session's folder, as `reprise sessions changes` lists it.",
    );
  }
  // nothing is to be done about what was changed and changed back
  const { same = [], different = [] } = Object.groupBy(named, ({ before, after }) =>
    isSameEntry(before, after) ? "same" : "different",
  );
  const conceal = await readConceal(secrets);
  const replaced = replacedFolders(different, direction);
  const steps: Step[] = [];
  const left = leftBy(earlier);
  for (const net of different) {
    steps.push(await planStep(net, { kept, direction, conceal, replaced, left }));
  }
  earlier.push(...steps);
  await judgeFolders(earlier);
  if (!dry_run) {
    const who = consenterOf(input.principal);
    const consent = { session_id: session.id, kind: direction, subject: String(n), who };
    await store.write(storeConsent, consent);
    await restore(steps);
    await mark(store, { direction, steps, same });
  }
  const outcomes = steps.map(({ outcome }) => outcome);
  return { n, dry_run, files: outcomes.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** With all that is below a folder, and with the folders that were made or deleted around a file. */
function isNamed({ root, path, before, after }: NetChange, files: readonly string[]): boolean {
  const isFolder = [before, after].some((entry) => entry?.kind === "folder");
  const at = join(root, path);
  return files
    .filter((file) => file !== "")
    .map((file) => resolve(root, file))
    .some(
      (file) =>
        file === at || at.startsWith(`${file}${sep}`) || (isFolder && file.startsWith(at + sep)),
    );
}

async function defaultExchange(
  store: Store,
  { id: session_id }: Session,
  direction: Direction,
): Promise<number> {
  const exchanges = await store.read(listChangedExchanges, { session_id });
  const found =
    direction === "undo"
      ? exchanges.find(({ changes, undone }) => undone < changes)
      : exchanges.filter(({ undone }) => undone > 0).toSorted(latestUndoneFirst)[0];
  if (found === undefined) {
    throw nothingTo(
      direction,
      direction === "undo"
        ? "No exchange of the session has changed a file that is still changed"
        : "Nothing in the session was undone",
    );
  }
  return found.n;
}

function latestUndoneFirst(a: ChangedExchange, b: ChangedExchange): number {
  return (a.undone_at ?? "") < (b.undone_at ?? "") ? 1 : -1;
}

export function nothingTo(direction: Direction, reason: string): RepriseError {
  return new RepriseError(
    "nothing_to_undo",
    `${reason}, so there is nothing to ${direction}. \`reprise sessions changes\` lists what was changed.`,
  );
}

/** A person may talk to a sub-agent by itself. Error codes: `session_busy`. */
async function refuseBusy(
  store: Store,
  { id }: Session,
  changes: readonly FileChange[],
): Promise<void> {
  for (const session_id of new Set(changes.map((change) => change.session_id))) {
    if (session_id !== id && (await store.read(readLease, { session_id })) !== null) {
      throw new RepriseError(
        "session_busy",
        "An exchange is running in a sub-agent that made some of the changes. Wait until it is done, or stop it.",
      );
    }
  }
}

async function isElsewhere(kept: KeptBytes, changes: readonly FileChange[]): Promise<boolean> {
  const place = await kept.place().catch((cause: unknown) => {
    const code = systemCode(cause);
    throw code === undefined ? cause : unreadable(code, cause);
  });
  return changes.every((change) => change.place !== null && change.place !== place);
}

function unreadable(code: string, cause: unknown): RepriseError {
  return new RepriseError(
    "changes_elsewhere",
    `The folder that keeps what files held before cannot be used (${code}). Check who owns reprise/undo in XDG_STATE_HOME or ~/.local/state, and whether the disk is full.`,
    { cause },
  );
}

function elsewhere(changes: readonly FileChange[]): RepriseError {
  const hosts = [...new Set(changes.map(({ host }) => host))].join(", ");
  return new RepriseError(
    "changes_elsewhere",
    `What these files held before is not kept on this machine, or for this user. Undo it on the machine on which the agent ran: ${hosts}.`,
  );
}

/** A file that was refused can still be undone later. */
async function mark(
  store: Store,
  {
    direction,
    steps,
    same,
  }: {
    readonly direction: Direction;
    readonly steps: readonly Step[];
    readonly same: readonly NetChange[];
  },
): Promise<void> {
  const done = steps.filter(({ outcome }) => outcome.outcome !== "refused");
  const dropped = done.flatMap(({ net, found }) => {
    const last = net.changes.at(-1);
    return last?.state === "begun" && direction === "undo" && isSameEntry(found.entry, last.before)
      ? [last]
      : [];
  });
  const changes = [...done.map(({ net }) => net), ...same].flatMap((net) =>
    net.changes.filter((each) => !dropped.includes(each)),
  );
  await store.write(markUndone, { undone: direction === "undo", changes, dropped });
}
