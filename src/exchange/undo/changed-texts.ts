import { type Entry, isSameEntry } from "../../core/files/file-entries.ts";
import { readConceal } from "../../core/secrets.ts";
import { readChangesOfCalls } from "../../store/records/file-changes/read.ts";
import { type NetChange, netChanges } from "../../workspace/undo/net-changes.ts";
import { bytesOf } from "../../workspace/undo/restore.ts";
import { unrecordedReason } from "../../workspace/undo/unrecorded.ts";
import type { ChangeSource } from "./show-changes.ts";

/** A file that a call changed, with its text before and after; null for a file that was not there. */
export interface ChangedText {
  /** Absolute. */
  readonly path: string;
  /** Undefined if the texts are not shown: one is large, is not UTF-8, or is not kept on this machine. */
  readonly texts?: { readonly before: string | null; readonly after: string | null };
}

/** Bytes of a text that is shown at most. */
const MAX_TEXT = 256 * 1024;

/** Returns the files that a call changed, those that it deleted with an empty text. */
export async function changedTexts(
  { store, kept, secrets }: Pick<ChangeSource, "store" | "kept" | "secrets">,
  call: { readonly session_id: string; readonly call_id: string },
): Promise<readonly ChangedText[]> {
  const { session_id, call_id } = call;
  const changes = await store.read(readChangesOfCalls, { session_id, call_ids: [call_id] });
  if (changes.length === 0) {
    return [];
  }
  const conceal = await readConceal(secrets);
  const found: ChangedText[] = [];
  for (const net of netChanges(changes).filter(isOfFile)) {
    const path = `${net.root}/${net.path}`;
    const [before, after] = [
      await textOf(kept, net, net.before),
      await textOf(kept, net, net.after),
    ];
    const isKnown = before !== undefined && after !== undefined && unrecordedReason(net) === null;
    found.push({
      path,
      ...(isKnown
        ? {
            texts: {
              before: before === null ? null : conceal(before),
              after: after === null ? null : conceal(after),
            },
          }
        : {}),
    });
  }
  return found;
}

function isOfFile({ before, after }: NetChange): boolean {
  return (before ?? after)?.kind !== "folder" && !isSameEntry(before, after);
}

/** Null for no file; undefined for one whose text is not shown. */
async function textOf(
  kept: ChangeSource["kept"],
  net: NetChange,
  entry: Entry | null,
): Promise<string | null | undefined> {
  if (entry === null) {
    return null;
  }
  if (kept === null || entry.kind !== "file" || entry.size > MAX_TEXT) {
    return undefined;
  }
  const bytes = await bytesOf(kept, net, entry);
  return bytes === null ? undefined : decoded(bytes);
}

function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
