import { isInTask } from "./prunable-rows.ts";

export interface CheckpointKey {
  readonly ns: string;
  readonly checkpoint_id: string;
}

/** A checkpoint as far as pruning a thread has to know it. */
export interface ThreadCheckpoint extends CheckpointKey {
  readonly row: number;
  readonly parent_id: string | null;
  /** The checkpoint of the graph around this one whose task runs it; null if it names none. */
  readonly owner: CheckpointKey | null;
  /** Names of the channels that have a value. */
  readonly channels: ReadonlySet<string>;
  /** Channels that are rebuilt from what the tasks of earlier checkpoints wrote. */
  readonly deltas: readonly string[];
  /** True if its sends are among what the tasks of its parent wrote, as before format 4. */
  readonly sendsInParent: boolean;
}

/** Checkpoints that stay when a thread is pruned. */
export interface KeptCheckpoints {
  readonly checkpoints: ReadonlySet<ThreadCheckpoint>;
  /** Checkpoints that follow another one now. */
  readonly parents: readonly { readonly row: number; readonly parent_id: string | null }[];
  /** Whether what the tasks of a checkpoint wrote stays. */
  keepsWritesOf(this: void, key: CheckpointKey): boolean;
}

/**
 * Which checkpoints of a thread stay, so that the latest `keep` of each branch can be read, resumed
 * and continued as before:
 *
 * - these, of the graph and of each subgraph with a separate memory;
 * - those of such a subgraph from which LangGraph would replay one of the graph's;
 * - all of the subgraphs that run inside one of their tasks;
 * - earlier ones from which a delta channel is rebuilt, or that hold the sends of an old format.
 *
 * What belongs to a checkpoint that may be on its way to the database stays, too. Takes the
 * checkpoints in the order in which they were stored.
 */
export function keptCheckpoints(all: readonly ThreadCheckpoint[], keep: number): KeptCheckpoints {
  const thread = new StoredThread(all);
  const kept = new Set(thread.latest(ROOT, keep));
  for (const ns of thread.memories()) {
    const replays = [...kept].flatMap((one) => (one.ns === ROOT ? thread.replayed(ns, one) : []));
    for (const one of [...thread.latest(ns, keep), ...replays]) {
      kept.add(one);
    }
  }
  for (const one of thread.inTasksOf(kept)) {
    kept.add(one);
  }
  for (const ancestor of [...kept].flatMap((one) => thread.neededBy(one))) {
    kept.add(ancestor);
  }
  return {
    checkpoints: kept,
    parents: [...kept].flatMap((one) => thread.newParent(one, kept)),
    keepsWritesOf: (key) => {
      const stored = thread.find(key);
      return stored === undefined ? !thread.isBehind(key.checkpoint_id) : kept.has(stored);
    },
  };
}

/** The ancestors from which the delta channels of a checkpoint are rebuilt, nearest first. */
export function deltaAncestors<One extends Pick<ThreadCheckpoint, "channels" | "deltas">>(
  checkpoint: One,
  parentOf: (one: One) => One | undefined,
): One[] {
  const missing = new Set(checkpoint.deltas.filter((name) => !checkpoint.channels.has(name)));
  const seen = new Set([checkpoint]);
  let next = missing.size > 0 ? parentOf(checkpoint) : undefined;
  while (next !== undefined && !seen.has(next)) {
    seen.add(next);
    for (const name of next.channels) {
      missing.delete(name);
    }
    next = missing.size > 0 ? parentOf(next) : undefined;
  }
  seen.delete(checkpoint);
  return [...seen];
}

type Kept = ReadonlySet<ThreadCheckpoint>;

/** The namespace of the graph itself. */
const ROOT = "";

function keyOf({ ns, checkpoint_id }: CheckpointKey): string {
  return JSON.stringify([ns, checkpoint_id]);
}

class StoredThread {
  readonly #byNs: ReadonlyMap<string, readonly ThreadCheckpoint[]>;
  readonly #byKey: ReadonlyMap<string, ThreadCheckpoint>;
  readonly #heads: readonly ThreadCheckpoint[];

  constructor(all: readonly ThreadCheckpoint[]) {
    this.#byNs = Map.groupBy(all, ({ ns }) => ns);
    this.#byKey = new Map(all.map((checkpoint) => [keyOf(checkpoint), checkpoint]));
    this.#heads = this.#headsOf(ROOT);
  }

  find(key: CheckpointKey): ThreadCheckpoint | undefined {
    return this.#byKey.get(keyOf(key));
  }

  /** The namespaces of subgraphs with a separate memory. */
  memories(): string[] {
    return [...this.#byNs.keys()].filter((ns) => ns !== ROOT && !isInTask(ns));
  }

  /** The latest ones of each branch of a namespace. */
  latest(ns: string, keep: number): ThreadCheckpoint[] {
    return this.#headsOf(ns).flatMap((head) => {
      const branch = new Set<ThreadCheckpoint>();
      let next: ThreadCheckpoint | undefined = head;
      while (next !== undefined && branch.size < keep && !branch.has(next)) {
        branch.add(next);
        next = this.#parentOf(next);
      }
      return [...branch];
    });
  }

  /**
   * Where a subgraph begins when LangGraph replays a checkpoint of the graph: at its latest one
   * with a lower id or, if `updateState` made the checkpoint, with a lower id than its parent.
   */
  replayed(ns: string, { checkpoint_id, parent_id }: ThreadCheckpoint): ThreadCheckpoint[] {
    const own = this.#byNs.get(ns) ?? [];
    return [checkpoint_id, parent_id].flatMap(
      (id) => own.findLast((one) => id !== null && one.checkpoint_id < id) ?? [],
    );
  }

  /** Returns the checkpoints of subgraphs that run inside a task of a kept checkpoint, or inside one of theirs. */
  inTasksOf(kept: Kept): ThreadCheckpoint[] {
    const answers = new Map<string, boolean>();
    const isNeeded = (ns: string): boolean => {
      const known = answers.get(ns);
      if (known !== undefined) {
        return known;
      }
      // for owners that form a circle: those stay
      answers.set(ns, true);
      const owners = (this.#byNs.get(ns) ?? []).map(({ owner }) => owner);
      const answer = owners.some((owner) => owner === null || isKept(owner));
      answers.set(ns, answer);
      return answer;
    };
    const isKept = (owner: CheckpointKey): boolean => {
      const stored = this.find(owner);
      if (stored === undefined) {
        return !this.isBehind(owner.checkpoint_id);
      }
      return isInTask(stored.ns) ? isNeeded(stored.ns) : kept.has(stored);
    };
    return [...this.#byNs].flatMap(([ns, own]) => (isInTask(ns) && isNeeded(ns) ? own : []));
  }

  /** The earlier ones that reading a checkpoint needs. */
  neededBy(checkpoint: ThreadCheckpoint): ThreadCheckpoint[] {
    const parent = checkpoint.sendsInParent ? this.#parentOf(checkpoint) : undefined;
    const ancestors = deltaAncestors(checkpoint, (one) => this.#parentOf(one));
    return parent === undefined ? ancestors : [parent, ...ancestors];
  }

  /**
   * In a memory, one may stay without its parent: it then follows the one before, so that it does
   * not become the head of a branch. In the graph that happens only to the first of a branch; the
   * id of its parent stays, because LangGraph replays by it.
   */
  newParent(
    checkpoint: ThreadCheckpoint,
    kept: Kept,
  ): { readonly row: number; readonly parent_id: string | null }[] {
    const { ns, row } = checkpoint;
    const seen = new Set<ThreadCheckpoint>();
    let parent = this.#parentOf(checkpoint);
    while (ns !== ROOT && parent !== undefined && !kept.has(parent) && !seen.has(parent)) {
      seen.add(parent);
      parent = this.#parentOf(parent);
    }
    return seen.size === 0 ? [] : [{ row, parent_id: parent?.checkpoint_id ?? null }];
  }

  /** True for an id that is lower than that of each branch's head: nobody is about to store it. */
  isBehind(checkpointId: string): boolean {
    return this.#heads.length > 0 && this.#heads.every((head) => checkpointId < head.checkpoint_id);
  }

  #headsOf(ns: string): ThreadCheckpoint[] {
    const own = this.#byNs.get(ns) ?? [];
    const followed = new Set(own.map(({ parent_id }) => parent_id));
    return own.filter(({ checkpoint_id }) => !followed.has(checkpoint_id));
  }

  #parentOf({ ns, parent_id }: ThreadCheckpoint): ThreadCheckpoint | undefined {
    return parent_id === null ? undefined : this.find({ ns, checkpoint_id: parent_id });
  }
}
