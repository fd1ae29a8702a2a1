import {
  parseMetadata,
  refsOf,
  type StoredValue,
  type StoredWrite,
} from "../../../src/store/checkpoints/value.ts";
import type { Operation } from "../../../src/store/store.ts";

export interface Kept {
  /** In the order in which they were stored. */
  readonly checkpoints: readonly {
    readonly ns: string;
    readonly checkpoint_id: string;
    readonly parent_id: string | null;
  }[];
  readonly writes: number;
  readonly bodies: number;
  readonly lists: number;
  /** References to bodies and lists that are not there. */
  readonly dangling: readonly string[];
  /** Chunks of values that nothing refers to. */
  readonly unused: readonly number[];
}

/** What all threads of a database have, and what of it refers to nothing. */
export const readKept: Operation<null, Kept> = async ({ db }) => {
  const checkpoints = await db.selectFrom("checkpoints").selectAll().orderBy("id").execute();
  const writes = await db.selectFrom("checkpoint_writes").selectAll().execute();
  const bodies = await db.selectFrom("checkpoint_bodies").select(["id", "body"]).execute();
  const lists = await db.selectFrom("checkpoint_lists").selectAll().execute();
  const items = await db.selectFrom("checkpoint_list_items").selectAll().execute();
  const values = [
    ...checkpoints.flatMap(({ channels, metadata }) => [
      parseMetadata(metadata),
      ...Object.values(JSON.parse(channels) as Record<string, StoredValue>),
    ]),
    ...writes.flatMap((row) =>
      (JSON.parse(row.writes) as StoredWrite[]).map(([, , value]) => value),
    ),
  ];
  const hasBody = new Set(bodies.map(({ id }) => id));
  const hasList = new Map(lists.map(({ id, length }) => [id, length]));
  const bodyRefs = [
    ...checkpoints.map(({ shape }) => shape),
    ...items.map(({ body }) => body),
    ...values.flatMap((value) => refsOf(value).bodies),
  ];
  const usedBodies = new Set(bodyRefs);
  const listRefs = [
    ...lists.flatMap(({ base, base_length }) =>
      base === null ? [] : [{ list: base, length: base_length }],
    ),
    ...values.flatMap((value) => refsOf(value).lists),
  ];
  return {
    checkpoints: checkpoints.map(({ ns, checkpoint_id, parent_id }) => ({
      ns,
      checkpoint_id,
      parent_id,
    })),
    writes: writes.length,
    bodies: bodies.length,
    lists: lists.length,
    unused: bodies
      .filter(({ id, body }) => body.startsWith("+") && !usedBodies.has(id))
      .map(({ id }) => id),
    dangling: [
      ...bodyRefs.filter((id) => !hasBody.has(id)).map((id) => `body ${id}`),
      ...listRefs
        .filter(({ list, length }) => (hasList.get(list) ?? -1) < length)
        .map(({ list, length }) => `list ${list} to ${length}`),
    ],
  };
};
