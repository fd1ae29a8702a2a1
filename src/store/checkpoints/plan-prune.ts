import { deltaAncestors } from "./kept-checkpoints.ts";
import { refsOf, type StoredValue, textsOf } from "./value.ts";
import { isInTask, type PrunableCheckpoint, type PrunableRows } from "./prunable-rows.ts";

/** Rows that pruning deletes. */
export interface PrunedIds {
  readonly checkpoints: readonly { readonly ns: string; readonly checkpoint_id: string }[];
  /** Values that were kept as bodies. Messages are not among them. */
  readonly bodies: readonly number[];
  readonly lists: readonly number[];
}

export const NOTHING_PRUNED: PrunedIds = { checkpoints: [], bodies: [], lists: [] };

export interface PrunePlan {
  /** Checkpoints that stay, and whom they follow now. */
  readonly parents: readonly { readonly row: number; readonly parent_id: string | null }[];
  readonly gone: PrunedIds;
}

/**
 * Computes what to delete so that only the latest checkpoint of an exchange stays, and what its
 * delta channels are rebuilt from.
 */
export function planPrune(rows: PrunableRows): PrunePlan {
  const inner = innerCheckpoints(rows.checkpoints);
  const staying = rows.checkpoints.filter((checkpoint) => !inner.has(checkpoint.checkpoint_id));
  const leaving = [...inner.values(), ...rows.nested];
  const writes = Object.groupBy(rows.writes, ({ ns, checkpoint_id }) =>
    isInTask(ns) || (ns === "" && inner.has(checkpoint_id)) ? "gone" : "kept",
  );
  const gone = [...leaving, ...(writes.gone ?? [])];
  const kept = refsOfAll([...staying, ...rows.separate, ...(writes.kept ?? [])]);
  return {
    parents: staying.flatMap(({ row, parent_id }) => {
      const next = nextStaying(parent_id, inner);
      return next === parent_id ? [] : [{ row, parent_id: next }];
    }),
    gone: {
      // a graph that was stopped early has left writes without a checkpoint
      checkpoints: distinctKeys(gone),
      bodies: freeBodies(rows, { texts: textsOfAll(gone), kept }),
      lists: freeLists(rows, kept.lists),
    },
  };
}

type ById = ReadonlyMap<string, PrunableCheckpoint>;

/**
 * The latest one's ancestors, but for those that another branch begins from or that a delta channel
 * of one that stays is rebuilt from.
 */
function innerCheckpoints(checkpoints: readonly PrunableCheckpoint[]): ById {
  const byId = new Map(checkpoints.map((checkpoint) => [checkpoint.checkpoint_id, checkpoint]));
  const [head] = checkpoints;
  const chain = new Map<string, PrunableCheckpoint>();
  for (let next = byId.get(head?.parent_id ?? ""); next !== undefined && next !== head;) {
    if (chain.has(next.checkpoint_id)) {
      break;
    }
    chain.set(next.checkpoint_id, next);
    next = byId.get(next.parent_id ?? "");
  }
  for (const checkpoint of checkpoints) {
    if (checkpoint !== head && !chain.has(checkpoint.checkpoint_id)) {
      chain.delete(checkpoint.parent_id ?? "");
    }
  }
  const staying = checkpoints.filter(({ checkpoint_id }) => !chain.has(checkpoint_id));
  for (const one of staying) {
    for (const needed of deltaAncestors(one, ({ parent_id }) => byId.get(parent_id ?? ""))) {
      chain.delete(needed.checkpoint_id);
    }
  }
  return chain;
}

function nextStaying(parentId: string | null, inner: ById): string | null {
  let next = parentId;
  for (let gone = inner.get(next ?? ""); gone !== undefined; gone = inner.get(next ?? "")) {
    next = gone.parent_id;
  }
  return next;
}

export function distinctKeys(checkpoints: PrunedIds["checkpoints"]): PrunedIds["checkpoints"] {
  const byKey = checkpoints.map(
    ({ ns, checkpoint_id }) =>
      [JSON.stringify([ns, checkpoint_id]), { ns, checkpoint_id }] as const,
  );
  return [...new Map(byKey).values()];
}

interface Holder {
  readonly values: readonly StoredValue[];
}

export function refsOfAll(holders: readonly Holder[]) {
  const refs = holders.flatMap(({ values }) => values.map(refsOf));
  return {
    bodies: new Set(refs.flatMap(({ bodies }) => bodies)),
    lists: new Set(refs.flatMap(({ lists }) => lists.map(({ list }) => list))),
  };
}

function textsOfAll(holders: readonly Holder[]): Set<number> {
  return new Set(holders.flatMap(({ values }) => values.flatMap(textsOf)));
}

/** Shapes stay: the next exchange goes through the same ones. */
function freeBodies(
  { folded_body, checkpoints, nested }: PrunableRows,
  { texts, kept }: { texts: ReadonlySet<number>; kept: { readonly bodies: ReadonlySet<number> } },
): number[] {
  const shapes = new Set([...checkpoints, ...nested].map(({ shape }) => shape));
  return [...texts].filter(
    (body) => body > folded_body && !kept.bodies.has(body) && !shapes.has(body),
  );
}

/** Lists that nothing refers to, nor to a list on top of them; those on top come first. */
export function freeLists(
  { lists }: Pick<PrunableRows, "lists">,
  kept: ReadonlySet<number>,
): number[] {
  const needed = new Set(kept);
  const free: number[] = [];
  for (const { id, base } of lists.toSorted((a, b) => b.id - a.id)) {
    if (!needed.has(id)) {
      free.push(id);
    } else if (base !== null) {
      needed.add(base);
    }
  }
  return free;
}
