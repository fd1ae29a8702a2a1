import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";

import { PlainStates, withoutRandom } from "./plain-state.ts";

/** When LangGraph waits for its checkpoints. */
export type Durability = "sync" | "async" | "exit";

export const DURABILITIES: readonly Durability[] = ["sync", "async", "exit"];

export interface Snapshot {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly config: object;
  readonly metadata?: object | undefined;
  readonly tasks: readonly {
    readonly id: string;
    readonly name: string;
    readonly interrupts: readonly { readonly id?: string; readonly value?: unknown }[];
    readonly state?: unknown;
  }[];
}

/** Any compiled graph. */
export interface AnyGraph {
  stream(input: unknown, options?: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: object): Promise<Snapshot>;
  getStateHistory(config: object): AsyncIterable<Snapshot>;
}

/** Uses graphs on one saver, and records all that a user of them sees. */
export interface Recording {
  readonly durability: Durability;
  readonly saver: BaseCheckpointSaver;
  /** Names the thread. */
  readonly config: { readonly configurable: { readonly thread_id: string } };
  /** Streams an input to its end, from a checkpoint if one is named, and records the stream. */
  send(graph: AnyGraph, input: unknown, at?: object): Promise<void>;
  /** Records the error of an input; how much of the stream comes before it depends on the reader. */
  fail(graph: AnyGraph, input: unknown): Promise<void>;
  state(graph: AnyGraph): Promise<Snapshot>;
  history(graph: AnyGraph): Promise<Snapshot[]>;
  /** Records anything else that has to be the same. */
  note(value: unknown): void;
}

export type Scenario = (recording: Recording) => Promise<void>;

const MODES = ["values", "updates", "custom", "messages", "tasks"];

/** What a user of the scenario's graphs sees, as plain data that is equal for equal behaviour. */
export async function record(
  scenario: Scenario,
  { saver, durability }: { saver: BaseCheckpointSaver; durability: Durability },
): Promise<unknown[]> {
  const seen: unknown[] = [];
  const states = new PlainStates();
  const note = (value: unknown): void => void seen.push(states.of(value));
  const config = { configurable: { thread_id: "a foreign thread" } };
  const send = async (graph: AnyGraph, input: unknown, at: object): Promise<void> => {
    const options = { ...at, durability, streamMode: MODES, subgraphs: true, recursionLimit: 100 };
    const chunks: Chunk[] = [];
    for await (const chunk of await graph.stream(input, options)) {
      chunks.push(chunk as Chunk);
    }
    seen.push({ chunks: inOneOrder(chunks, states) });
  };
  await scenario({
    saver,
    config,
    durability,
    note,
    send: (graph, input, at = config) => send(graph, input, at),
    fail: async (graph, input) => {
      const thrown: unknown = await send(graph, input, config).catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(Error);
      note({ thrown });
    },
    state: async (graph) => {
      const state = await graph.getState(config, { subgraphs: true });
      note({ state });
      return state;
    },
    history: async (graph) => {
      const history = await Array.fromAsync(graph.getStateHistory(config));
      note({ history });
      return history;
    },
  });
  for (const tuple of await storedTuples({ saver, config, states })) {
    note(tuple);
  }
  return seen;
}

/** All that is stored, also what no graph reads any more: the namespaces of finished subgraphs. */
async function storedTuples({
  saver,
  config,
  states,
}: {
  saver: BaseCheckpointSaver;
  config: Recording["config"];
  states: PlainStates;
}): Promise<object[]> {
  const tuples = await Array.fromAsync(saver.list(config));
  const orderOf = ({ config, checkpoint }: CheckpointTuple): string =>
    `${String(states.of(config.configurable?.["checkpoint_ns"]))} ${checkpoint.id}`;
  return tuples
    .map((tuple) => ({ tuple, order: orderOf(tuple) }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
    .map(({ tuple: { pendingWrites = [], ...tuple } }) => {
      // without a path of their task, these are in the order of its random id
      const { answers = [], others = [] } = Object.groupBy(pendingWrites, ([, channel]) =>
        channel === "__resume__" ? "answers" : "others",
      );
      return { ...tuple, pendingWrites: [...others, ...sorted(answers)] };
    });
}

/** Of a graph or a subgraph: its namespace, the stream's mode, what was streamed. */
type Chunk = readonly [readonly string[], string, unknown];

/**
 * What runs side by side streams in any order: subgraphs are taken one after the other, in the
 * order of the tasks that they are, and what the tasks of one step streamed is sorted.
 */
function inOneOrder(chunks: readonly Chunk[], states: PlainStates): unknown[] {
  const levels = Map.groupBy(chunks, ([ns]) => ns.length);
  return sortedEntries(levels).flatMap(([, level]) => {
    // the level above has numbered the tasks
    const graphs = Map.groupBy(level, ([ns]) => String(states.of(ns.join("|"))));
    return sortedEntries(graphs).flatMap(([, graph]) =>
      stepsOf(graph).flatMap((step) => sorted(step).map((chunk) => states.of(chunk))),
    );
  });
}

function sortedEntries<Key extends string | number, Value>(map: Map<Key, Value>): [Key, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The chunks between two states. */
function stepsOf(chunks: readonly Chunk[]): Chunk[][] {
  const steps: Chunk[][] = [[]];
  for (const chunk of chunks) {
    if (chunk[1] === "values") {
      steps.push([chunk], []);
    } else {
      steps.at(-1)?.push(chunk);
    }
  }
  return steps;
}

function sorted<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, key: withoutRandom(JSON.stringify(item)) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key === b.key ? 0 : 1))
    .map(({ item }) => item);
}
