import type {
  ExchangeChangesInfo,
  FileChangeInfo,
} from "../../core/schemas/file-change-schemas.ts";
import { type Entry, isSameEntry } from "../../core/files/file-entries.ts";
import {
  type ExchangeKey,
  type FileChange,
  listChangedExchanges,
  readChangesOfCalls,
  readFileChanges,
} from "../../store/records/file-changes/read.ts";
import { resolveSession } from "../../store/records/sessions/read.ts";
import type { Store } from "../../store/store.ts";
import { entryDiff } from "../../workspace/undo/entry-diff.ts";
import { type Conceal, readConceal, type Secrets } from "../../core/secrets.ts";
import { settleTree } from "../../workspace/undo/commands/settle-tree.ts";
import type { KeptBytes } from "../../workspace/undo/kept-bytes.ts";
import { type NetChange, netChanges } from "../../workspace/undo/net-changes.ts";
import { bytesOf } from "../../workspace/undo/restore.ts";
import { unrecordedReason } from "../../workspace/undo/unrecorded.ts";

/** Where changes and what is kept of them are read. */
export interface ChangeSource {
  readonly store: Pick<Store, "read" | "write">;
  /** Null if this machine keeps no bytes: there are no diffs then. */
  readonly kept: KeptBytes | null;
  /** They are replaced in diffs; none by default. */
  readonly secrets?: Secrets | undefined;
  /** Called between two files, each of which takes some milliseconds. */
  readonly pause?: (() => Promise<void>) | undefined;
}

/** Characters of all diffs of one answer; of further files there is none. */
const MAX_DIFFS = 1_000_000;

/** The exchanges of a session that changed files, the latest first. Error codes: as `resolveSession`. */
export async function changedExchanges(
  source: ChangeSource,
  { reference }: { readonly reference: string },
): Promise<ExchangeChangesInfo[]> {
  const { store } = source;
  const { id: session_id } = await store.read(resolveSession, { reference });
  await settleTree(source, session_id);
  const exchanges = await store.read(listChangedExchanges, { session_id });
  return exchanges.map(({ n, changes, undone }) => ({ n, changes, undone }));
}

/**
 * Lists what an exchange and its sub-agents changed, path by path; empty for an exchange that changed nothing.
 * Folders that a tool made on the way to a file are not listed. Error codes: as `resolveSession`.
 */
export async function changesOfExchange(
  source: ChangeSource,
  { reference, n }: { readonly reference: string; readonly n: number },
): Promise<FileChangeInfo[]> {
  const { id: session_id } = await source.store.read(resolveSession, { reference });
  await settleTree(source, session_id);
  return changesOf(source, { session_id, n });
}

/**
 * Lists what all exchanges of a session and its sub-agents changed together, path by path; what was undone is not in it.
 * Error codes: as `resolveSession`.
 */
export async function changesOfSession(
  source: ChangeSource,
  { reference }: { readonly reference: string },
): Promise<FileChangeInfo[]> {
  const { id: session_id } = await source.store.read(resolveSession, { reference });
  await settleTree(source, session_id);
  const exchanges = await source.store.read(listChangedExchanges, { session_id });
  const changes: FileChange[] = [];
  for (const { n } of exchanges.toReversed()) {
    changes.push(...(await source.store.read(readFileChanges, { session_id, n })));
  }
  const conceal = await readConceal(source.secrets);
  const made = changes.filter(({ undone_at }) => undone_at === null);
  return shown({ ...source, conceal }, made);
}

/** Returns what each of these calls of a session changed; calls that changed nothing are not in it. */
export async function changesOfCalls(
  source: ChangeSource,
  calls: { readonly session_id: string; readonly call_ids: readonly string[] },
): Promise<ReadonlyMap<string, readonly FileChangeInfo[]>> {
  return changesByCall(source, await source.store.read(readChangesOfCalls, calls));
}

/** Returns what is shown of changes, by the call that made them. */
export async function changesByCall(
  source: Omit<ChangeSource, "store">,
  changes: readonly FileChange[],
): Promise<ReadonlyMap<string, readonly FileChangeInfo[]>> {
  const found = new Map<string, readonly FileChangeInfo[]>();
  if (changes.length === 0) {
    return found;
  }
  const conceal = await readConceal(source.secrets);
  for (const [call_id, rows] of Map.groupBy(changes, (change) => change.call_id)) {
    found.set(call_id, await shown({ ...source, conceal }, rows));
  }
  return found;
}

async function changesOf(source: ChangeSource, key: ExchangeKey): Promise<FileChangeInfo[]> {
  const conceal = await readConceal(source.secrets);
  return shown({ ...source, conceal }, await source.store.read(readFileChanges, key));
}

interface Shown extends Pick<ChangeSource, "kept" | "pause"> {
  readonly conceal: Conceal;
}

async function shown(
  { kept, conceal, pause }: Shown,
  changes: readonly FileChange[],
): Promise<FileChangeInfo[]> {
  const nets = netChanges(changes);
  const infos: FileChangeInfo[] = [];
  let left = MAX_DIFFS;
  for (const net of nets.filter(isShown)) {
    const isKnown = kept !== null && unrecordedReason(net) === null;
    const compared = !isKnown || left <= 0 ? null : await diffOf(net, { kept, conceal });
    left -= compared?.diff.length ?? 0;
    await pause?.();
    infos.push({
      path: net.path,
      kind: kindOf(net),
      tools: [...new Set(net.changes.map(({ tool }) => tool))],
      calls: [...new Set(net.changes.map(({ call_id }) => call_id))],
      added: compared?.added ?? null,
      removed: compared?.removed ?? null,
      diff: compared?.diff ?? null,
      reason: unrecordedReason(net)?.reason ?? null,
      undone: net.changes.every(({ undone_at }) => undone_at !== null),
    });
  }
  return infos;
}

function isShown({ before, after }: NetChange): boolean {
  const isOnTheWay = before === null && after?.kind === "folder" && after.mode === null;
  return !isOnTheWay && !isSameEntry(before, after);
}

function kindOf({ before, after }: NetChange): FileChangeInfo["kind"] {
  if (before === null) {
    return "created";
  }
  if (after === null) {
    return "deleted";
  }
  return before.kind === after.kind ? "changed" : "replaced";
}

/** Null if what was kept of it is not on this machine any more. */
async function diffOf(
  net: NetChange,
  { kept, conceal }: { readonly kept: KeptBytes; readonly conceal: Conceal },
) {
  const [before, after] = await Promise.all([
    sideOf(kept, net, net.before),
    sideOf(kept, net, net.after),
  ]);
  return before === null || after === null
    ? null
    : entryDiff({ path: net.path, before, after, conceal });
}

async function sideOf(kept: KeptBytes, net: NetChange, entry: Entry | null) {
  const bytes = await bytesOf(kept, net, entry);
  return entry?.kind === "file" && bytes === null ? null : { entry, bytes };
}
