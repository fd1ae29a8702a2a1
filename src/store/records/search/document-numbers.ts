import type { Tx } from "../../store.ts";

/** A document that has no number yet. */
export interface Unnumbered {
  readonly seq: number;
  /** Its number, if that is free: see `documentNumber`. */
  readonly wanted: number;
}

/**
 * Gives each document the first free number that is not below the wanted one. They keep their order, ascending by that: messages
 * that have the same time get a run of numbers.
 */
export async function withNumbers<Document extends Unnumbered>(
  tx: Tx,
  documents: readonly Document[],
): Promise<(Document & { readonly id: number })[]> {
  const taken = new Set(
    await takenOf(
      tx,
      documents.map(({ wanted }) => wanted),
    ),
  );
  const numbered: (Document & { readonly id: number })[] = [];
  let last = 0;
  for (const document of documents) {
    const { wanted } = document;
    last =
      wanted > last && !taken.has(wanted) ? wanted : await freeFrom(tx, Math.max(wanted, last + 1));
    numbered.push({ ...document, id: last });
  }
  return numbered;
}

/**
 * A free number after taken ones: the first after a run. A run of a million takes 20 steps forward, each twice as long, and
 * 20 back.
 */
async function freeFrom(tx: Tx, first: number): Promise<number> {
  const isTaken = async (id: number): Promise<boolean> => (await takenOf(tx, [id])).length > 0;
  let taken = first - 1;
  let free = first;
  for (let step = 1; await isTaken(free); step *= 2) {
    taken = free;
    free += step;
  }
  while (free - taken > 1) {
    const middle = Math.floor((free + taken) / 2);
    if (await isTaken(middle)) {
      taken = middle;
    } else {
      free = middle;
    }
  }
  return free;
}

async function takenOf({ db }: Tx, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) {
    return [];
  }
  const rows = await db
    .selectFrom("search_documents")
    .select("id")
    .where("id", "in", ids)
    .execute();
  return rows.map(({ id }) => id);
}
