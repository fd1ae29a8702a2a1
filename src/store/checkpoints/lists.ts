import type { Selectable } from "kysely";

import { type Parameter, prepared } from "../prepared.ts";
import type { Tx } from "../store.ts";
import { batches } from "../records/threads/bodies.ts";
import { listsOf } from "../records/threads/families.ts";
import { damagedCheckpoint } from "./damage.ts";
import type { ListTable } from "../tables/checkpoints.ts";
import { at, type ListVersion, type SequenceInput } from "./value.ts";

/**
 * Lists below one another at most. A thread that is edited or forked again and again would
 * otherwise be read by as many queries as it was edited; a deeper list is copied instead.
 */
const MAX_LIST_DEPTH = 16;

type ListRow = Selectable<ListTable>;

/**
 * `found` when every list that the caller knows is there and as long as it thinks, else `stale`.
 * `grown` usually: the only list ended at the expected position and was made longer, for
 * `keepSequence` to fill.
 */
export async function checkLists(
  tx: Tx,
  { thread, sequences }: { readonly thread: number; readonly sequences: readonly SequenceInput[] },
): Promise<"found" | "grown" | "stale"> {
  const [only] = sequences;
  const { list, length } = only?.known ?? { list: 0, length: 0 };
  if (only !== undefined && length > 0 && only.rest.length > 0 && sequences.length === 1) {
    const grown = { thread, list, length, longer: length + only.rest.length };
    if ((await tx.rows(growList, grown)).length > 0) {
      return "grown";
    }
  }
  for (const { known } of sequences) {
    if (known !== null) {
      const row = await listsOf(tx, thread)
        .select("length")
        .where("checkpoint_lists.id", "=", known.list)
        .executeTakeFirst();
      if (row === undefined || row.length < known.length) {
        return "stale";
      }
    }
  }
  return "found";
}

const growList = prepared(
  ({ db }, given: Parameter<ListVersion & { readonly thread: number; readonly longer: number }>) =>
    db
      .updateTable("checkpoint_lists")
      .set({ length: given("longer") })
      .where("id", "=", given("list"))
      .where("thread", "=", given("thread"))
      .where("length", "=", given("length"))
      .returning("id"),
);

export interface KeepSequence {
  readonly thread: number;
  readonly sequence: SequenceInput;
  /** Ids of the batch's bodies, by position. */
  readonly bodies: readonly number[];
  /** True if `checkLists` has made the list longer. */
  readonly grown: boolean;
}

/**
 * Finds or makes the list version that holds the sequence: an existing list that already continues
 * like it, the known list made longer if nobody else has done so, or a new list on top of it. The
 * answer's `length` is always beyond the list's own base. A list of another thread is never made longer.
 */
export async function keepSequence(tx: Tx, input: KeepSequence): Promise<ListVersion> {
  const rest = input.sequence.rest.map((index) => at(input.bodies, index));
  const { known } = input.sequence;
  if (known === null || known.length === 0) {
    return openList(tx, { thread: input.thread, base: null, items: rest });
  }
  if (input.grown) {
    return addItems(tx, { list: known.list, from: known.length, items: rest });
  }
  const owner = await ownerOf(tx, known);
  const shared = await sharedItems(tx, { owner, from: known.length, items: rest });
  const length = known.length + shared;
  if (shared === rest.length) {
    return { list: owner.id, length };
  }
  const items = rest.slice(shared);
  if (owner.length !== length || owner.thread !== input.thread) {
    return openList(tx, { thread: input.thread, base: { owner, length }, items });
  }
  const longer = length + items.length;
  await tx.rows(growList, { thread: input.thread, list: owner.id, length, longer });
  return addItems(tx, { list: owner.id, from: length, items });
}

/** The list that holds the last item of a version: the version's list, or a base further down. */
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
    .select(["id", "thread", "base", "base_length", "length", "depth"])
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
  const rows = await selectItems(tx, { list: owner.id, from, to: from + items.length })
    .select("body")
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
  if (base !== null && base.owner.depth + 1 >= MAX_LIST_DEPTH) {
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
      length: from + input.items.length,
      depth: base === null ? 0 : base.owner.depth + 1,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return addItems(tx, { list: id, from, items: input.items });
}

/** Fills the end of a list that is as long as it will be. */
async function addItems(
  tx: Tx,
  { list, from, items }: { list: number; from: number; items: readonly number[] },
): Promise<ListVersion> {
  const rows = items.map((body, index) => ({ position: from + index, body }));
  for (const batch of batches(rows)) {
    await tx.rows(insertItems, { list, items: batch });
  }
  return { list, length: from + items.length };
}

interface ListItems {
  readonly list: number;
  readonly items: readonly { readonly position: number; readonly body: number }[];
}

const insertItems = prepared(({ db }, given: Parameter<ListItems>) =>
  db
    .insertInto("checkpoint_list_items")
    .values(given.rows("items").map((item) => ({ ...item, list: given("list") }))),
);

async function itemsOf(tx: Tx, version: ListVersion): Promise<number[]> {
  const { segments } = await segmentsOf(tx, version, new Map());
  const items: number[] = [];
  for (const segment of segments) {
    const rows = await selectItems(tx, segment).select("body").execute();
    items.push(...rows.map((row) => row.body));
  }
  return items;
}

/** The hashes of a list version's bodies, in order. Error codes: as `segmentsOf`. */
export async function hashesOf(tx: Tx, version: ListVersion): Promise<string[]> {
  const { segments } = await segmentsOf(tx, version, new Map());
  const hashes: string[] = [];
  for (const segment of segments) {
    const rows = await selectBodies(tx, segment).select("hash").execute();
    hashes.push(...rows.map(({ hash }) => hash));
  }
  return hashes;
}

/** The items of a segment, in order, with the bodies that are there. */
export function selectBodies(tx: Tx, segment: Segment) {
  const items = selectItems(tx, segment);
  return items.innerJoin("checkpoint_bodies", "checkpoint_bodies.id", "checkpoint_list_items.body");
}

function selectItems(tx: Tx, { list, from, to }: Segment) {
  return tx.db
    .selectFrom("checkpoint_list_items")
    .where("list", "=", list)
    .where("position", ">=", from)
    .where("position", "<", to)
    .orderBy("position");
}

/** A range of positions whose items are in one list. */
export interface Segment {
  readonly list: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The ranges that make up a list version, in order, after what the caller has already: `have` says
 * how many items it has of which list, `start` which of them come first.
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
