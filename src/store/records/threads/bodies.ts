import { hash } from "node:crypto";

import { type Parameter, prepared } from "../../prepared.ts";
import type { Tx } from "../../store.ts";
import { bodiesOf } from "./families.ts";

/** A text to be kept once in its thread. */
export interface BodyInput {
  readonly hash: string;
  /** Null if the caller knows that the thread has it; if it has not, the answer is `stale`. */
  readonly text: string | null;
}

/** The name under which a text is kept once in its thread: 132 bits of its SHA-256. */
export function textHash(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

/** Parameters of one statement, far below what either engine takes; few different statements. */
export const BATCH = 200;

export interface BodiesInput {
  readonly thread: number;
  readonly bodies: readonly BodyInput[];
}

/** Stores the bodies that are not `found` and returns the ids of all, place by place. */
export async function keepBodies(
  tx: Tx,
  { thread, bodies, found }: BodiesInput & { readonly found: ReadonlyMap<string, number> },
): Promise<number[]> {
  const ids = new Map(found);
  const missing = bodies.flatMap(({ hash, text }) =>
    text === null || ids.has(hash) ? [] : [{ hash, body: text }],
  );
  for (const batch of batches(missing)) {
    for (const { hash, id } of await tx.rows(insertBodies, { thread, bodies: batch })) {
      ids.set(hash, id);
    }
  }
  const stored = missing.filter(({ hash }) => !ids.has(hash));
  for (const [hash, id] of await idsOf(tx, { thread, bodies: stored })) {
    ids.set(hash, id);
  }
  return bodies.map(({ hash }) => {
    const id = ids.get(hash);
    if (id === undefined) {
      throw new Error("a body was stored without an id");
    }
    return id;
  });
}

interface NamedBodies<More = unknown> {
  readonly thread: number;
  readonly bodies: readonly (More & { readonly hash: string })[];
}

/** The ids of bodies that the thread has or shares, by hash. */
export async function idsOf(tx: Tx, { thread, bodies }: NamedBodies): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for (const batch of batches(bodies)) {
    for (const { hash, id } of await tx.rows(bodiesByHash, { thread, bodies: batch })) {
      ids.set(hash, id);
    }
  }
  return ids;
}

const bodiesByHash = prepared(({ db }, given: Parameter<NamedBodies>) =>
  bodiesOf({ db }, given("thread"))
    .select(["hash", "checkpoint_bodies.id"])
    .where("hash", "in", given.all("bodies", "hash")),
);

/** Returns those that the thread did not have: what is there stays untouched. */
const insertBodies = prepared(({ db }, given: Parameter<NamedBodies<{ readonly body: string }>>) =>
  db
    .insertInto("checkpoint_bodies")
    .values(given.rows("bodies").map((row) => ({ ...row, thread: given("thread") })))
    .onConflict((conflict) => conflict.columns(["thread", "hash"]).doNothing())
    .returning(["hash", "id"]),
);

export function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += BATCH) {
    yield items.slice(start, start + BATCH);
  }
}
