import type { Tx } from "../store.ts";
import { batches } from "./bodies.ts";
import { damagedCheckpoint } from "./damage.ts";
import { at, type ListVersion, type SequenceInput } from "./value.ts";

/**
 * Lists below one another at most. A thread that is edited or forked again and again would
 * otherwise be read by as many queries as it was edited; a deeper list is copied instead.
 */
const MAX_DEPTH = 16;

interface ListRow {
  readonly id: number;
  readonly base: number | null;
  readonly base_length: number;
  readonly length: number;
  readonly depth: number;
}

/** True when every list that the caller knows is there and as long as it thinks. */
export async function haveLists(
  tx: Tx,
  { thread, sequences }: { readonly thread: number; readonly sequences: readonly SequenceInput[] },
): Promise<boolean> {
  for (const { known } of sequences) {
    if (known !== null) {
      const row = await tx.db
        .selectFrom("checkpoint_lists")
        .select("length")
        .where("id", "=", known.list)
        .where("thread", "=", thread)
        .executeTakeFirst();
      if (row === undefined || row.length < known.length) {
        return false;
      }
    }
  }
  return true;
}

export interface KeepSequence {
  readonly thread: number;
  readonly sequence: SequenceInput;
  /** Ids of the parcel's bodies, place by place. */
  readonly bodies: readonly number[];
}

/**
 * Finds or makes the list version that holds the sequence: an existing list that already goes on
 * like it, the known list made longer where nobody else has, or a new list on top of it. The
 * answer's `length` is always beyond the list's own base.
 */
export async function keepSequence(tx: Tx, input: KeepSequence): Promise<ListVersion> {
  const rest = input.sequence.rest.map((place) => at(input.bodies, place));
  const { known } = input.sequence;
  if (known === null || known.length === 0) {
    return openList(tx, { thread: input.thread, base: null, items: rest });
  }
  const owner = await ownerOf(tx, known);
  const shared = await sharedItems(tx, { owner, from: known.length, items: rest });
  const length = known.length + shared;
  if (shared === rest.length) {
    return { list: owner.id, length };
  }
  const items = rest.slice(shared);
  return owner.length === length
    ? appendItems(tx, { list: owner.id, from: length, items })
    : openList(tx, { thread: input.thread, base: { owner, length }, items });
}

/** The list in which the last item of a version stands: its own, or a base further down. */
async function ownerOf(tx: Tx, version: ListVersion): Promise<ListRow> {
  let row = await readList(tx, version.list);
  while (row.base !== null && version.length <= row.base_length) {
    row = await readList(tx, row.base);
  }
  return row;
}

/** Holds the list until the transaction ends, so that no other writer makes it longer. */
function readList(tx: Tx, id: number): Promise<ListRow> {
  return selectList(tx, id).modifyEnd(tx.dialect.forUpdate).executeTakeFirstOrThrow();
}

function selectList(tx: Tx, id: number) {
  return tx.db
    .selectFrom("checkpoint_lists")
    .select(["id", "base", "base_length", "length", "depth"])
    .where("id", "=", id);
}

async function sharedItems(
  tx: Tx,
  input: { owner: ListRow; from: number; items: readonly number[] },
): Promise<number> {
  const { owner, from, items } = input;
  if (items.length === 0 || owner.length === from) {
    return 0;
  }
  const rows = await tx.db
    .selectFrom("checkpoint_list_items")
    .select("body")
    .where("list", "=", owner.id)
    .where("position", ">=", from)
    .where("position", "<", from + items.length)
    .orderBy("position")
    .execute();
  const differs = rows.findIndex((row, index) => row.body !== items[index]);
  return differs === -1 ? rows.length : differs;
}

async function openList(
  tx: Tx,
  input: {
    thread: number;
    base: { owner: ListRow; length: number } | null;
    items: readonly number[];
  },
): Promise<ListVersion> {
  const { thread, base } = input;
  if (base !== null && base.owner.depth + 1 >= MAX_DEPTH) {
    const below = await itemsOf(tx, { list: base.owner.id, length: base.length });
    return openList(tx, { thread, base: null, items: [...below, ...input.items] });
  }
  const from = base?.length ?? 0;
  const { id } = await tx.db
    .insertInto("checkpoint_lists")
    .values({
      thread,
      base: base?.owner.id ?? null,
      base_length: from,
      depth: base === null ? 0 : base.owner.depth + 1,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return appendItems(tx, { list: id, from, items: input.items });
}

async function appendItems(
  tx: Tx,
  { list, from, items }: { list: number; from: number; items: readonly number[] },
): Promise<ListVersion> {
  let position = from;
  for (const batch of batches(items)) {
    const start = position;
    await tx.db
      .insertInto("checkpoint_list_items")
      .values(batch.map((body, index) => ({ list, position: start + index, body })))
      .execute();
    position += batch.length;
  }
  await tx.db
    .updateTable("checkpoint_lists")
    .set({ length: position })
    .where("id", "=", list)
    .execute();
  return { list, length: position };
}

async function itemsOf(tx: Tx, version: ListVersion): Promise<number[]> {
  const { segments } = await segmentsOf(tx, version, new Map());
  const items: number[] = [];
  for (const segment of segments) {
    const rows = await tx.db
      .selectFrom("checkpoint_list_items")
      .select("body")
      .where("list", "=", segment.list)
      .where("position", ">=", segment.from)
      .where("position", "<", segment.to)
      .orderBy("position")
      .execute();
    items.push(...rows.map((row) => row.body));
  }
  return items;
}

/** The hashes of a list version's bodies, in order. Error codes: as `segmentsOf`. */
export async function hashesOf(tx: Tx, version: ListVersion): Promise<string[]> {
  const { segments } = await segmentsOf(tx, version, new Map());
  const hashes: string[] = [];
  for (const { list, from, to } of segments) {
    const rows = await tx.db
      .selectFrom("checkpoint_list_items")
      .innerJoin("checkpoint_bodies", "checkpoint_bodies.id", "checkpoint_list_items.body")
      .select("hash")
      .where("list", "=", list)
      .where("position", ">=", from)
      .where("position", "<", to)
      .orderBy("position")
      .execute();
    hashes.push(...rows.map(({ hash }) => hash));
  }
  return hashes;
}

/** A stretch of positions whose items stand in one list. */
export interface Segment {
  readonly list: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The stretches that make up a list version, in order, behind what the caller has already: `have`
 * tells how many items it has of which list, `start` which of them come first.
 */
export async function segmentsOf(
  tx: Tx,
  version: ListVersion,
  have: ReadonlyMap<number, number>,
): Promise<{ start: ListVersion | null; segments: Segment[] }> {
  const segments: Segment[] = [];
  let { list, length: to } = version;
  for (;;) {
    const had = Math.min(have.get(list) ?? 0, to);
    if (had === to) {
      return { start: { list, length: had }, segments };
    }
    if (had > 0) {
      segments.unshift({ list, from: had, to });
      return { start: { list, length: had }, segments };
    }
    const { base, base_length } = await selectList(tx, list).executeTakeFirstOrThrow();
    segments.unshift({ list, from: base === null ? 0 : base_length, to });
    if (base === null) {
      return { start: null, segments };
    }
    if (base >= list) {
      // a list is made after its base; anything else would be followed for ever
      throw damagedCheckpoint();
    }
    list = base;
    to = base_length;
  }
}
