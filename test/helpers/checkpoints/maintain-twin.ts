import type { MemorySaver } from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";

import type { RepriseSaver } from "../../../src/langgraph/reprise-saver.ts";
import { programGraph } from "./program-graph.ts";
import { plainTuple } from "./plain.ts";
import { PlainStates } from "./plain-state.ts";

interface TwinThread {
  readonly saver: RepriseSaver;
  readonly memory: MemorySaver;
  readonly thread_id: string;
}

/**
 * Prunes a thread, and takes the same checkpoints out of MemorySaver, which cannot prune. What is
 * left of each branch's head has to behave as before.
 */
export async function pruneBoth({ saver, memory, thread_id }: TwinThread): Promise<void> {
  const root = memory.storage[thread_id]?.[""] ?? {};
  const parents = new Set(Object.values(root).map(([, , parent]) => parent));
  const heads = Object.keys(root).filter((id) => !parents.has(id));
  const graph = programGraph(memory);
  const states = async (): Promise<unknown[]> =>
    Promise.all(
      heads.map(async (checkpoint_id) => {
        const at = { configurable: { thread_id, checkpoint_id } };
        const { parentConfig: _, ...state } = await graph.getState(at, { subgraphs: true });
        return new PlainStates().of(state);
      }),
    );
  const before = await states();
  await saver.prune(thread_id);
  await keepOnlyWhatIsStored({ saver, memory, thread_id });
  expect(await states()).toEqual(before);
}

async function keepOnlyWhatIsStored({ saver, memory, thread_id }: TwinThread): Promise<void> {
  const tuples = await Array.fromAsync(saver.list({ configurable: { thread_id } }));
  const stored = new Map(
    tuples.map(({ config, parentConfig }) => [
      JSON.stringify(config.configurable),
      parentConfig?.configurable?.["checkpoint_id"] as string | undefined,
    ]),
  );
  for (const [checkpoint_ns, checkpoints] of Object.entries(memory.storage[thread_id] ?? {})) {
    for (const [checkpoint_id, checkpoint] of Object.entries(checkpoints)) {
      const key = JSON.stringify({ thread_id, checkpoint_ns, checkpoint_id });
      if (stored.has(key)) {
        checkpoint[2] = stored.get(key);
      } else {
        delete checkpoints[checkpoint_id];
        delete memory.writes[JSON.stringify([thread_id, checkpoint_ns, checkpoint_id])];
      }
    }
  }
}

/** Copies a thread, compares the copy with the original in MemorySaver, and deletes it. */
export async function copyAndCompare({ saver, memory, thread_id }: TwinThread): Promise<void> {
  const originals = await Array.fromAsync(memory.list({ configurable: { thread_id } }));
  if (originals.length === 0) {
    return;
  }
  const copy = `a copy of ${thread_id}`;
  await saver.copyThread(thread_id, copy);
  const copies = await Array.fromAsync(saver.list({ configurable: { thread_id: copy } }));
  const placed = (tuples: typeof copies): unknown =>
    new Map(
      tuples.map((tuple) => [
        `${String(tuple.config.configurable?.["checkpoint_ns"])} ${tuple.checkpoint.id}`,
        plainTuple(tuple),
      ]),
    );
  expect(placed(copies)).toEqual(placed(originals));
  await saver.deleteThread(copy);
}
