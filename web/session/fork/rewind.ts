import type { FileOutcome } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import type { SessionModel } from "../model.ts";

/** Outcome of undoing an exchange, or of a rehearsal. */
export interface Undoing {
  readonly n: number;
  readonly files: readonly FileOutcome[];
}

/** The exchanges after a message that changed files which are not undone, the latest first. */
export async function changedAfter(model: SessionModel, seq: number): Promise<readonly number[]> {
  const changed = (await client.listChanges(model.id)).filter(
    ({ changes, undone }) => undone < changes,
  );
  const known = model.exchanges.value ?? [];
  const oldest = known.at(-1);
  const firstOf = async (n: number): Promise<number | null> => {
    if (oldest !== undefined && n < oldest.n && (oldest.first_seq ?? Infinity) <= seq) {
      // before all that were read, and so before the message
      return null;
    }
    // null also if the page has not heard that it began
    const found = known.find((exchange) => exchange.n === n)?.first_seq ?? null;
    return found ?? (await client.getExchange(model.id, n)).first_seq;
  };
  const firsts = await Promise.all(changed.map(async ({ n }) => ({ n, first: await firstOf(n) })));
  return firsts
    .filter(({ first }) => first !== null && first > seq)
    .map(({ n }) => n)
    .sort((a, b) => b - a);
}

/** Undoes exchanges one after another, or only finds out what that would do. `onUndone` gets each. */
export async function undoAll(
  { id }: SessionModel,
  exchanges: readonly number[],
  { dry_run, onUndone }: { readonly dry_run: boolean; onUndone(undoing: Undoing): void },
): Promise<void> {
  for (const n of exchanges) {
    const { files } = await client.undoExchange(id, n, { dry_run });
    onUndone({ n, files });
  }
}

/**
 * The later exchange that has to be undone before a file of an earlier one can be: the service compares each exchange
 * with the files as they are. Null if there is none.
 */
export function laterOf(all: readonly Undoing[], { n, path }: { n: number; path: string }) {
  const later = all.filter((undoing) => undoing.n > n);
  return later.find(({ files }) => files.some((file) => isRestored(file, path)))?.n ?? null;
}

/** Files that can be undone, or were. */
export function restoredIn(all: readonly Undoing[]): number {
  const paths = all.flatMap(({ files }) =>
    files.filter((file) => isRestored(file, file.path)).map(({ path }) => path),
  );
  return new Set(paths).size;
}

function isRestored({ path, outcome }: FileOutcome, wanted: string): boolean {
  return outcome === "restored" && path === wanted;
}
