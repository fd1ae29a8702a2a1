import type { StateSnapshot } from "@langchain/langgraph";
import {
  BaseCheckpointSaver,
  type CheckpointTuple,
  ERROR,
  INTERRUPT,
  type PendingWrite,
  RESUME,
  SCHEDULED,
  TASKS,
} from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../../core/errors.ts";
import { type OpenCall, withResults } from "../thread-state.ts";
import type { AttachedGraph, ThreadConfig } from "./attach-saver.ts";
import type { LateSaver } from "./late-saver.ts";

/** A task that was running when its exchange stopped, and the calls that it was to run. */
export interface OpenTask {
  readonly id: string;
  readonly node: string;
  readonly calls: readonly OpenCall[];
}

/** A thread whose exchange stopped. */
export interface StoppedThread {
  readonly snapshot: StateSnapshot;
  readonly tuple: CheckpointTuple;
  readonly openCalls: readonly OpenCall[];
  readonly graph: AttachedGraph["graph"];
}

/**
 * The tasks that were running calls when the exchange stopped. One that has finished, or that asks a
 * person and was not answered yet, runs no call.
 *
 * Error codes: `exchange_interrupted` if it cannot be known which of several tasks ran a call.
 */
export function tasksOfCalls(thread: StoppedThread): readonly OpenTask[] {
  const open = thread.openCalls.filter(({ result }) => result === null);
  const running = thread.snapshot.tasks.filter(({ id }) => isRunning(id, thread.tuple));
  const sent = new Map(thread.snapshot.tasks.map((task) => [task.id, sentCalls(task, thread)]));
  const left = open.filter((call) => [...sent.values()].every((calls) => !calls.includes(call)));
  const pulled = running.filter(({ path }) => path?.[0] !== PUSHED);
  const takers = pulled.length > 1 ? pulled.filter(({ name }) => hasTools(name, thread)) : pulled;
  if (left.length > 0 && pulled.length > 1 && takers.length !== 1) {
    throw new RepriseError(
      "exchange_interrupted",
      "Several nodes of the graph were running, and it is unknown which of them ran the open calls. Send a new message, which skips what was interrupted.",
    );
  }
  return running
    .map(({ id, name }) => ({
      id,
      node: name,
      calls: [...(sent.get(id) ?? []), ...(id === takers[0]?.id ? left : [])],
    }))
    .filter(({ calls }) => calls.length > 0);
}

/** The first member of a task's path if a `Send` began it. */
const PUSHED = "__pregel_push";
/** What is written for a task that has not finished. */
const NOT_DONE: ReadonlySet<string> = new Set([INTERRUPT, RESUME, ERROR, SCHEDULED]);
/** An answer for whatever task asks is stored under no task. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

function isRunning(task: string, { pendingWrites = [] }: CheckpointTuple): boolean {
  const channels = new Set(
    pendingWrites.filter(([id]) => id === task).map(([, channel]) => channel),
  );
  const isDone = [...channels].some((channel) => !NOT_DONE.has(channel));
  const isAnswered =
    channels.has(RESUME) ||
    pendingWrites.some(([id, channel]) => id === NO_TASK && channel === RESUME);
  return !isDone && (!channels.has(INTERRUPT) || isAnswered);
}

/** The calls that a `Send` names in its argument, as agents of LangChain send each to a task. */
function sentCalls(
  { path }: StateSnapshot["tasks"][number],
  { tuple, openCalls }: StoppedThread,
): readonly OpenCall[] {
  const [kind, index] = path ?? [];
  const sends: unknown = tuple.checkpoint.channel_values[TASKS];
  if (kind !== PUSHED || !Array.isArray(sends) || typeof index !== "number") {
    return [];
  }
  const argument: unknown = memberOf(sends[index], "args");
  const values = typeof argument === "object" && argument !== null ? Object.values(argument) : [];
  const ids = new Set([argument, ...values].map((value) => memberOf(value, "id")));
  return openCalls.filter(({ id }) => ids.has(id));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** True for LangGraph's and LangChain's nodes of tools. */
function hasTools(node: string, { graph }: StoppedThread): boolean {
  return Array.isArray(memberOf(memberOf(graph.nodes[node], "bound"), "tools"));
}

/**
 * Finishes a task without running it: its calls get the result "outcome unknown". What its node
 * leads to is stored as if the node had run, beside what the other tasks have written.
 */
export async function closeTask(
  task: OpenTask,
  {
    graph,
    saver,
    late,
    config,
    snapshot,
  }: Pick<AttachedGraph, "graph"> & {
    readonly saver: BaseCheckpointSaver;
    readonly late: LateSaver;
    readonly config: ThreadConfig;
    readonly snapshot: StateSnapshot;
  },
): Promise<void> {
  const recorder = new WriteRecorder(saver);
  const messages = withResults({ openCalls: task.calls });
  await late.using(recorder, () => graph.updateState(config, { messages }, task.node));
  await saver.putWrites(snapshot.config, recorder.writes, task.id, "");
}

/** Reads what is stored and stores nothing: it keeps what a node would have written. */
class WriteRecorder extends BaseCheckpointSaver {
  readonly writes: PendingWrite[] = [];
  readonly #saver: BaseCheckpointSaver;

  constructor(saver: BaseCheckpointSaver) {
    super();
    this.#saver = saver;
  }

  override getTuple(...given: Parameters<BaseCheckpointSaver["getTuple"]>) {
    return this.#saver.getTuple(...given);
  }

  override list(...given: Parameters<BaseCheckpointSaver["list"]>) {
    return this.#saver.list(...given);
  }

  override put(...[config]: Parameters<BaseCheckpointSaver["put"]>) {
    return Promise.resolve(config);
  }

  override putWrites(...[, writes]: Parameters<BaseCheckpointSaver["putWrites"]>): Promise<void> {
    this.writes.push(...writes);
    return Promise.resolve();
  }

  override deleteThread(): Promise<void> {
    return Promise.resolve();
  }
}
