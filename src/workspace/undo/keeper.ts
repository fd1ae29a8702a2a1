import { hostname } from "node:os";

import type { Entry, FileEntry, FolderEntry, LinkEntry } from "../../core/files/file-entries.ts";
import { isRepriseError, systemCode } from "../../core/errors.ts";
import {
  beginFileChanges,
  dropFileChanges,
  finishFileChanges,
} from "../../store/records/file-changes/record.ts";
import type { Fence } from "../../store/records/leases/fence.ts";
import type { Store } from "../../store/store.ts";
import { hashOf, type KeptBytes } from "./kept-bytes.ts";

/** Entry at a path, with its bytes; null for those of a file that is too large to be read. */
export type Content =
  | (Omit<FileEntry, "hash"> & { readonly bytes: Uint8Array | null })
  | LinkEntry
  | FolderEntry;

/** A change of one path that is about to be made. */
export interface PlannedChange {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly before: Content | null;
  readonly after: Content | null;
}

/** The call that makes changes, and the real path of the folder in which it does. */
export interface ChangingCall {
  readonly call_id: string;
  readonly tool: string;
  readonly root: string;
}

/**
 * Makes changes that can be undone: the bytes of before and after are on the disk, and what is about to be done is
 * in the database, before `act` is called. A refusal of `act` means that nothing was changed.
 *
 * Error codes: `lease_lost`, `session_ended`, `database_*`, those of `act`.
 */
export type KeepChanges = <Result>(
  call: ChangingCall,
  changes: readonly PlannedChange[],
  act: () => Promise<Result>,
) => Promise<Result>;

export interface KeeperOptions {
  readonly store: Pick<Store, "write">;
  readonly fence: Fence;
  /** The number of the exchange. */
  readonly n: () => number;
  /** Null if this machine keeps no bytes: changes are then listed, and cannot be undone. */
  readonly kept: KeptBytes | null;
}

/** For the calls of one exchange. */
export function createKeeper({ store, fence, n, kept }: KeeperOptions): KeepChanges {
  return async (call, changes, act) => {
    const { place, entries } = await keepAll(kept, fence.session_id, changes);
    const stored = await store.write(beginFileChanges, {
      ...call,
      fence,
      place,
      n: n(),
      host: hostname(),
      changes: entries,
    });
    let result;
    try {
      result = await act();
    } catch (error) {
      if (isRepriseError(error)) {
        await store.write(dropFileChanges, stored);
      }
      throw error;
    }
    // a change that stays `begun` is judged by what is on the disk
    await store.write(finishFileChanges, stored).catch(() => undefined);
    return result;
  };
}

/** Failures to write there do not stop the agent: the changes are listed as not kept. */
const UNWRITABLE = ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "ENOTDIR", "ENOENT", "EIO"];

async function keepAll(
  kept: KeptBytes | null,
  session_id: string,
  changes: readonly PlannedChange[],
) {
  const sizes = changes.flatMap(({ before, after }) => [sizeOf(before), sizeOf(after)]);
  const fits = sizes.reduce((sum, size) => sum + size, 0) <= (kept?.limits.session ?? 0);
  let place: string | null = null;
  try {
    place = fits && kept !== null ? await kept.place() : null;
    if (place !== null) {
      for (const { before, after } of changes) {
        await keepContent(kept, session_id, before);
        await keepContent(kept, session_id, after);
      }
    }
  } catch (error) {
    if (!UNWRITABLE.includes(systemCode(error) ?? "")) {
      throw error;
    }
    place = null;
  }
  const entries = changes.map(({ path, before, after }) => ({
    path,
    before: entryOf(before),
    after: entryOf(after),
  }));
  return { place, entries };
}

async function keepContent(
  kept: KeptBytes | null,
  session_id: string,
  content: Content | null,
): Promise<void> {
  if (content?.kind === "file" && content.bytes !== null) {
    await kept?.keep(session_id, content.bytes);
  }
}

function sizeOf(content: Content | null): number {
  return content?.kind === "file" ? content.size : 0;
}

function entryOf(content: Content | null): Entry | null {
  if (content?.kind !== "file") {
    return content;
  }
  const { bytes, ...file } = content;
  return { ...file, hash: bytes === null ? null : hashOf(bytes) };
}
