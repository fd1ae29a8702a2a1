import { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Message, Session } from "../../core/sessions.ts";
import { threadId } from "../../core/threads.ts";
import type { GraphQuestion } from "../../exchange/events.ts";
import type { Live } from "../../exchange/exchanger.ts";
import { nothingToContinue } from "../../exchange/nothing-to-continue.ts";
import { type Report, reportStored } from "../../exchange/report-events.ts";
import type { Store } from "../../store/store.ts";
import { mayRepeat } from "../repeating.ts";
import { messagesOf, threadStateOf, withResults } from "../thread-state.ts";
import type { HeldThread } from "../thread-holder.ts";
import type { AttachedGraph, ThreadConfig } from "./attach-saver.ts";
import { closeTask } from "./close-task.ts";
import { commandOf, type GraphInput, stateUpdate } from "./graph-input.ts";
import { hearEverywhere } from "./hear-everywhere.ts";
import { keepInput, keptInput, storeCommand } from "./kept-input.ts";
import type { GraphProgress } from "./graph-progress.ts";
import type { LateSaver } from "./late-saver.ts";
import { openWork } from "./open-tasks.ts";
import { openQuestions, questionOf, withAnswers } from "./questions.ts";
import { refuseToRepeat, suspectsOf } from "./repeat.ts";
import { startedTools, ToolRecorder } from "./started-tools.ts";
import { subgraphStates } from "./subgraph-states.ts";
import { isDone } from "./task-writes.ts";
import { TokenGuard } from "./token-guard.ts";

/** One exchange of a graph that is not ours, under its session's lease. */
export interface GraphExchange {
  readonly store: Store;
  readonly attached: AttachedGraph;
  readonly late: LateSaver;
  readonly input: GraphInput;
  /** Names of the tools that may be run twice. */
  readonly repeatable: readonly string[];
  readonly live: Live;
  readonly report: Report;
  readonly progress: GraphProgress;
  readonly thread: HeldThread;
  /** True if a limit of tokens has to be checked. */
  readonly isLimited: boolean;
}

/** How a run of the graph ended, if it did not fail. */
export type GraphEnd =
  | { readonly state: "done" | "stopped"; readonly answer: string }
  /** Without interrupts, it waits for the answer to a stored question. */
  | { readonly state: "waiting"; readonly interrupts?: readonly GraphQuestion[] };

/** The node that takes a graph's input. */
const START = "__start__";

/** The exchange between taking the lease and giving it back. */
export async function runGraphExchange(exchange: GraphExchange): Promise<GraphEnd> {
  const { thread, late, input, report } = exchange;
  const { held, saver, tuple } = thread;
  const state = threadStateOf(tuple);
  const config = configOf(held.session);
  return late.using(saver, async () => {
    if (input.kind === "new" && held.wasInterrupted) {
      await skipInterrupted(exchange, config);
      await keepInput({ input, saver, config, graph: exchange.attached.graph });
    }
    const { pending } = await thread.begin();
    reportStored(report, pending);
    const next = await nextInput(exchange, { config, pending });
    if (next === "done") {
      return { state: "done", answer: state.answer };
    }
    if (next === "asking") {
      return { state: "waiting" };
    }
    return "waiting" in next
      ? { state: "waiting", interrupts: next.waiting }
      : stream(exchange, config, next.input);
  });
}

export function configOf({ id, thread_suffix }: Session): ThreadConfig {
  return { configurable: { thread_id: threadId(id, thread_suffix) } };
}

/** A new message skips what was interrupted: each open call gets a result before it. */
async function skipInterrupted(exchange: GraphExchange, config: ThreadConfig): Promise<void> {
  const { graph } = exchange.attached;
  const { tuple } = exchange.thread;
  const snapshot = await graph.getState(config);
  // a graph that has finished may leave calls open on purpose, for its caller to answer
  if (tuple === undefined || snapshot.tasks.length === 0) {
    return;
  }
  const isEarlier = await earlierMessages(exchange, config);
  const { calls } = openWork({ snapshot, tuple, graph, isEarlier });
  if (calls.length > 0) {
    await graph.updateState(config, { messages: withResults(calls) }, START);
  }
}

/** What the graph gets next, what it still asks, or nothing: it is done. */
type Next =
  | { readonly input: unknown }
  | { readonly waiting: readonly GraphQuestion[] }
  /** A stored question has to be answered first. */
  | "asking"
  | "done";

interface Prepared {
  readonly config: ThreadConfig;
  readonly pending: readonly Message[];
}

/** What the graph gets next. See `nextInput` of the built-in agent. */
async function nextInput(exchange: GraphExchange, { config, pending }: Prepared): Promise<Next> {
  const { input, store, attached, thread } = exchange;
  const { tuple } = thread;
  const isContinued = input.kind === "continue" && thread.held.wasInterrupted;
  const kept = isContinued ? keptInput(tuple) : null;
  if (kept?.kind === "new" || input.kind === "new") {
    return { input: stateUpdate(kept ?? input, pending) };
  }
  const snapshot = await attached.graph.getState(config);
  // `next` lacks the tasks that asked a second time, and those that are done but not in a checkpoint
  const isOpen = snapshot.tasks.length > 0;
  if (tuple !== undefined && kept !== null) {
    const answers = { ...kept, command: commandOf(Reflect.get(kept.command, "resume")) };
    const next = isOpen
      ? await continued(exchange, config, { input: answers, snapshot, tuple })
      : null;
    if (next === "asking") {
      return next;
    }
    await storeCommand(thread.saver, tuple, kept.command);
    return next !== null && kept.resumes ? next : { input: null };
  }
  if (tuple !== undefined && isOpen) {
    return continued(exchange, config, { input, snapshot, tuple });
  }
  if (input.kind === "command" && !input.resumes) {
    return { input: input.command };
  }
  if (input.kind === "continue" && pending.length > 0) {
    return { input: stateUpdate(input, pending) };
  }
  if (isContinued && tuple !== undefined) {
    // killed between its last checkpoint and the release of its lease: nothing is missing
    return "done";
  }
  throw await nothingToContinue(store, thread.held.fence.session_id);
}

interface Stopped {
  readonly input: Exclude<GraphInput, { kind: "new" }>;
  readonly snapshot: StateSnapshot;
  readonly tuple: CheckpointTuple;
}

/** Continues an exchange that stopped, unless it only waits for a person. */
async function continued(
  exchange: GraphExchange,
  config: ThreadConfig,
  { input, snapshot, tuple }: Stopped,
): Promise<Next> {
  const { saver } = exchange.thread;
  const open = snapshot.tasks
    .map(({ id }) => id)
    .filter((task) => !isDone(task, tuple.pendingWrites));
  const questions = open.map((task) => openQuestions(task, tuple));
  if (input.kind === "continue" && open.length > 0 && questions.every(({ length }) => length > 0)) {
    return { waiting: questions.flat() };
  }
  const closed = await closeUnsafe(exchange, config, { snapshot, tuple });
  if (closed === "waiting") {
    return "asking";
  }
  const tasks = open.filter((task) => !closed.includes(task));
  return { input: await withAnswers({ input, tasks, closed, saver, tuple }) };
}

/**
 * Calls that may have taken effect are run again only with a yes. Answers with the tasks that were
 * closed instead; `waiting` if a person has to be asked first.
 *
 * Error codes: `exchange_interrupted` if there is no yes and a task cannot be closed.
 */
async function closeUnsafe(
  exchange: GraphExchange,
  config: ThreadConfig,
  { snapshot, tuple }: Omit<Stopped, "input">,
): Promise<readonly string[] | "waiting"> {
  const { store, thread, attached, late, live, repeatable } = exchange;
  const { saver } = thread;
  const { graph } = attached;
  const started = await startedTools(tuple, saver, config);
  const subgraphs = await subgraphStates(saver, config);
  const run = { thread: { snapshot, tuple, graph }, started, subgraphs, repeatable };
  let suspects = suspectsOf(run, () => false);
  if (suspects.length > suspectsOf(run, () => true).length) {
    suspects = suspectsOf(run, await earlierMessages(exchange, config));
  }
  const calls = suspects.map(({ call: { id, name, args } }) => ({ id, name, args }));
  const asking = {
    store,
    fence: thread.held.fence,
    thread_suffix: thread.held.session.thread_suffix,
    repeats: live.repeats ?? "never",
    default: undefined,
    conceal: (text: string) => text,
  };
  // an attempt has its own name: a tool of a later step may be called with the same, and without an id
  const begun = started
    .map(({ attempt }) => attempt)
    .toSorted()
    .join();
  const isAllowed = await mayRepeat(asking, { calls, begun });
  if (isAllowed !== "no") {
    return isAllowed === "yes" ? [] : "waiting";
  }
  const tasks = new Set(suspects.map(({ task }) => task));
  if (tasks.has(null)) {
    throw refuseToRepeat();
  }
  const unsafe = [...tasks].filter((task) => task !== null);
  for (const task of unsafe) {
    await closeTask(task, { graph, saver, late, config, snapshot });
  }
  return unsafe.map(({ id }) => id);
}

/** Knows the messages that the thread had when its exchange began. */
async function earlierMessages(
  { thread: { saver } }: GraphExchange,
  { configurable }: ThreadConfig,
): Promise<(message: BaseMessage) => boolean> {
  const root = { configurable: { ...configurable, checkpoint_ns: "" } };
  const known = new Set<unknown>();
  for await (const { checkpoint } of saver.list(root, { filter: { source: "input" }, limit: 1 })) {
    for (const value of Object.values(checkpoint.channel_values).flat()) {
      if (BaseMessage.isInstance(value)) {
        known.add(value.id);
      }
    }
  }
  return ({ id }) => id !== undefined && known.has(id);
}

async function stream(
  exchange: GraphExchange,
  config: ThreadConfig,
  input: unknown,
): Promise<GraphEnd> {
  const { attached, thread, late, live, progress } = exchange;
  const { held } = thread;
  if (live.signal.aborted) {
    // LangGraph may store the input before it reads the signal
    return { state: "stopped", answer: "" };
  }
  const before = late.puts;
  const guard = new TokenGuard(exchange.store, held.session.id, exchange.isLimited);
  const interrupts: GraphQuestion[] = [];
  let isWaiting = false;
  try {
    const everywhere = [new ToolRecorder(late, config), guard];
    await hearEverywhere(everywhere, async () => {
      const updates = await attached.runnable.stream(input, {
        ...config,
        streamMode: "updates",
        callbacks: [progress.handler, ...everywhere],
        durability: "sync",
        signal: AbortSignal.any([live.signal, held.lost, guard.signal]),
      });
      for await (const update of updates) {
        const questions = questionsIn(update);
        isWaiting ||= questions !== null;
        interrupts.push(...(questions ?? []));
      }
    });
  } catch (error) {
    held.lost.throwIfAborted();
    guard.signal.throwIfAborted();
    if (!live.signal.aborted) {
      throw failureOf(error);
    }
    const answer = late.puts > before ? await finishedAnswer(exchange, config) : null;
    return answer === null ? { state: "stopped", answer: "" } : { state: "done", answer };
  }
  held.lost.throwIfAborted();
  return isWaiting
    ? { state: "waiting", interrupts }
    : { state: "done", answer: progress.answer() };
}

/** What the graph asks, of an update of its stream; null if the graph does not stop with it. */
function questionsIn(update: unknown): readonly GraphQuestion[] | null {
  const asked: unknown =
    typeof update === "object" && update !== null ? Reflect.get(update, "__interrupt__") : null;
  return Array.isArray(asked)
    ? asked.map((question: { id?: string; value?: unknown }) => questionOf(question))
    : null;
}

/** The answer, if the graph was stopped only after the checkpoint that finished it. */
async function finishedAnswer(
  { attached, thread }: GraphExchange,
  config: ThreadConfig,
): Promise<string | null> {
  const { tasks } = await attached.graph.getState(config);
  const last = messagesOf(await thread.saver.getTuple(config)).at(-1);
  return tasks.length === 0 && AIMessage.isInstance(last) ? last.text : null;
}

/** Of errors of nodes that ran side by side, the one that says why the exchange ended. */
function failureOf(error: unknown): RepriseError {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const own = errors.find((each) => isRepriseError(each));
  return isRepriseError(own)
    ? own
    : new RepriseError(
        "agent_failed",
        "The agent's own code failed. Fix it, then continue the exchange.",
        { cause: error },
      );
}
