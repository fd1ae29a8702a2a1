import type { ToolCall } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";

import { newId } from "../../core/ids.ts";

/** Channels of the writes in which begun tools are kept, beside the root's checkpoint. */
const STARTED = "__reprise_tool_started__";
const ASKED = "__reprise_tool_asked__";
const KEPT = "__reprise_call_kept__";

/** Characters of a call's arguments that are kept: enough to be shown, the thread has them whole. */
const MAX_ARGS = 2_000;

/** A tool that began, as it is stored before it runs. */
export interface StoredStart {
  /** Id of the call; empty if the graph called the tool without one. */
  readonly id: string;
  readonly name: string;
  readonly args: string;
  /** Stored with the exchange in which it began; the built-in agent keeps none. */
  readonly attempt?: string;
  /** Task ids, of the root's task first. */
  readonly tasks: readonly string[];
  /** Namespaces of the graphs around it that have checkpoints, and their checkpoints. */
  readonly graphs: readonly (readonly [ns: string, checkpointId: string])[];
}

/** Where begun tools are kept: beside the checkpoint on which the root graph runs. */
export interface RootCheckpoint {
  readonly saver: Pick<BaseCheckpointSaver, "putWrites">;
  readonly thread_id: string;
  readonly checkpoint_id: string | undefined;
}

/** Stores that a tool begins. `run` is different each time that it does. */
export function keepStart(at: RootCheckpoint, run: string, start: StoredStart): Promise<void> {
  const args = start.args.slice(0, MAX_ARGS).toWellFormed();
  return put(at, STARTED, { value: { ...start, args }, id: run });
}

/** Stores that it asks a person: LangGraph runs it again with the answer. */
export function keepAsked(at: RootCheckpoint, run: string): Promise<void> {
  return put(at, ASKED, { value: run, id: `${run}:asked` });
}

function put(
  at: RootCheckpoint,
  channel: string,
  { value, id }: { readonly value: unknown; readonly id: string },
): Promise<void> {
  return putAll(at, [[channel, value]], id);
}

/** Under an id that no task has: LangGraph takes what a task wrote for its result. */
function putAll(
  { saver, thread_id, checkpoint_id }: RootCheckpoint,
  writes: PendingWrite[],
  id: string,
): Promise<void> {
  const configurable = { thread_id, checkpoint_ns: "", checkpoint_id };
  return saver.putWrites({ configurable }, writes, id, "");
}

interface KeptWrite {
  readonly call: string;
  /** Counts what a call has kept, from 1. */
  readonly n: number;
  readonly text: string;
}

/** Returns the last text that each call kept which began on this checkpoint, by its id. */
export function keptIn({
  pendingWrites = [],
}: Pick<CheckpointTuple, "pendingWrites">): ReadonlyMap<string, KeptWrite> {
  const kept = new Map<string, KeptWrite>();
  for (const [, channel, value] of pendingWrites) {
    if (channel === KEPT) {
      // none but `keep` writes it
      const write = value as KeptWrite;
      const { n } = kept.get(write.call) ?? { n: 0 };
      if (write.n > n) {
        kept.set(write.call, write);
      }
    }
  }
  return kept;
}

/** The tools that began on this checkpoint and did not stop to ask a person. */
export function startsIn({
  pendingWrites = [],
}: Pick<CheckpointTuple, "pendingWrites">): readonly StoredStart[] {
  const asked = new Set(pendingWrites.filter(([, name]) => name === ASKED).map(([, , id]) => id));
  return pendingWrites.flatMap(([run, channel, value]) =>
    channel === STARTED && !asked.has(run) ? [value as StoredStart] : [],
  );
}

/** The mark of one run of a call of the built-in agent. */
export interface BegunMark {
  /** True once the call has begun in this run, or continued with what it had kept. */
  hasRun(): boolean;
  /** Stores that the call may take effect from here on; once, however often it is called. */
  begin(): Promise<void>;
  /** Takes it back: the call stops to ask a person. */
  asks(): Promise<void>;
  /**
   * Takes it back, and keeps with it what the call needs to continue when it is run again. The call can begin once more.
   * `n` counts what the call keeps, from 1.
   */
  keep(text: string, n: number): Promise<void>;
}

/** For a call in a node of the root graph, whose config this is. */
export function begunMark(
  saver: BaseCheckpointSaver,
  { id = "", name, args }: ToolCall,
  { configurable = {} }: RunnableConfig,
): BegunMark {
  const checkpoints: unknown = configurable["checkpoint_map"];
  const root: unknown =
    typeof checkpoints === "object" && checkpoints !== null ? Reflect.get(checkpoints, "") : null;
  const at = {
    saver,
    thread_id: String(configurable["thread_id"]),
    checkpoint_id: typeof root === "string" ? root : undefined,
  };
  const task = String(configurable["__pregel_task_id"]);
  let run = newId();
  let begun: Promise<void> | null = null;
  let hasRun = false;
  return {
    hasRun: () => hasRun,
    keep: async (text, n) => {
      hasRun = true;
      await begun;
      const kept: PendingWrite = [KEPT, { call: id, n, text } satisfies KeptWrite];
      await putAll(at, begun === null ? [kept] : [kept, [ASKED, run]], newId());
      [run, begun] = [newId(), null];
    },
    begin: () => {
      hasRun = true;
      return (begun ??= keepStart(at, run, {
        id,
        name,
        args: JSON.stringify(args),
        tasks: [task],
        graphs: [],
      }));
    },
    asks: async () => {
      if (begun !== null) {
        await keepAsked(at, run);
      }
    },
  };
}
