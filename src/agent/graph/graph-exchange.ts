import { AIMessage } from "@langchain/core/messages";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Message, Session } from "../../core/sessions.ts";
import { threadId } from "../../core/threads.ts";
import type { GraphQuestion } from "../../exchange/events.ts";
import type { Live } from "../../exchange/exchanger.ts";
import { nothingToContinue } from "../../exchange/nothing-to-continue.ts";
import { type Report, reportStored } from "../../exchange/report-events.ts";
import type { Store } from "../../store/store.ts";
import {
  mayBeRepeated,
  messagesOf,
  type ThreadState,
  threadStateOf,
  withResults,
} from "../thread-state.ts";
import type { HeldThread } from "../thread-holder.ts";
import type { AttachedGraph, ThreadConfig } from "./attach-saver.ts";
import { type GraphInput, stateUpdate } from "./graph-input.ts";
import type { GraphProgress } from "./graph-progress.ts";
import type { LateSaver } from "./late-saver.ts";
import { closeTask, tasksOfCalls } from "./open-tasks.ts";

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
}

/** How a run of the graph ended, if it did not fail. */
export type GraphEnd =
  | { readonly state: "done" | "stopped"; readonly answer: string }
  | { readonly state: "waiting"; readonly interrupts: readonly GraphQuestion[] };

/** The node that takes a graph's input. */
const START = "__start__";

/** The exchange between taking the lease and giving it back. */
export async function runGraphExchange(exchange: GraphExchange): Promise<GraphEnd> {
  const { thread, late, input, report } = exchange;
  const { held, saver, tuple } = thread;
  const state = threadStateOf(tuple);
  const config = configOf(held.session);
  return late.using(saver, async () => {
    if (input.kind === "new" && held.begun === null) {
      await skipInterrupted(exchange, config, state);
    }
    const { pending } = held.begun ?? (await thread.begin());
    reportStored(report, pending);
    const next = await nextInput(exchange, { config, state, pending });
    return next === "done"
      ? { state: "done", answer: state.answer }
      : stream(exchange, config, next.input);
  });
}

export function configOf({ id, thread_suffix }: Session): ThreadConfig {
  return { configurable: { thread_id: threadId(id, thread_suffix) } };
}

/** A new message skips what was interrupted: each open call gets a result before it. */
async function skipInterrupted(
  { attached: { graph } }: GraphExchange,
  config: ThreadConfig,
  state: ThreadState,
): Promise<void> {
  if (state.openCalls.length === 0) {
    return;
  }
  const { next } = await graph.getState(config);
  // a graph that has finished may leave calls open on purpose, for its caller to answer
  if (next.length > 0) {
    await graph.updateState(config, { messages: withResults(state) }, START);
  }
}

interface Prepared {
  readonly config: ThreadConfig;
  readonly state: ThreadState;
  readonly pending: readonly Message[];
}

/** What the graph gets next. See `nextInput` of the built-in agent. */
async function nextInput(
  exchange: GraphExchange,
  { config, state, pending }: Prepared,
): Promise<{ readonly input: unknown } | "done"> {
  const { input, store, attached, thread } = exchange;
  if (input.kind === "new") {
    return { input: stateUpdate(input, pending) };
  }
  const { next } = await attached.graph.getState(config);
  if (next.length > 0) {
    await closeUnsafe(exchange, config, state);
    return { input: input.kind === "command" ? input.command : null };
  }
  if (input.kind === "command" && !input.resumes) {
    return { input: input.command };
  }
  if (input.kind === "continue" && pending.length > 0) {
    return { input: stateUpdate(input, pending) };
  }
  if (input.kind === "continue" && thread.held.wasInterrupted && thread.tuple !== undefined) {
    // killed between its last checkpoint and the release of its lease: nothing is missing
    return "done";
  }
  throw await nothingToContinue(store, thread.held.fence.session_id);
}

/** Calls that may have taken effect are run again only with a yes. */
async function closeUnsafe(
  { thread, attached, late, live, repeatable }: GraphExchange,
  config: ThreadConfig,
  { openCalls }: ThreadState,
): Promise<void> {
  const { saver, tuple } = thread;
  const { graph } = attached;
  if (tuple === undefined || openCalls.every((call) => mayBeRepeated(call, repeatable))) {
    return;
  }
  const snapshot = await graph.getState(config);
  const tasks = tasksOfCalls({ snapshot, tuple, openCalls, graph });
  const unsafe = tasks.filter(({ calls }) =>
    calls.some((call) => !mayBeRepeated(call, repeatable)),
  );
  const calls = unsafe.flatMap((task) => task.calls);
  const asked = calls.filter((call) => !mayBeRepeated(call, repeatable));
  if (asked.length === 0 || (await live.mayRepeat?.(asked)) === true) {
    return;
  }
  for (const task of unsafe) {
    await closeTask(task, { graph, saver, late, config, snapshot });
  }
}

async function stream(
  exchange: GraphExchange,
  config: ThreadConfig,
  input: unknown,
): Promise<GraphEnd> {
  const { attached, thread, live, progress } = exchange;
  const { held } = thread;
  const interrupts: GraphQuestion[] = [];
  let isWaiting = false;
  try {
    const updates = await attached.runnable.stream(input, {
      ...config,
      streamMode: "updates",
      callbacks: [progress.handler],
      durability: "sync",
      signal: AbortSignal.any([live.signal, held.lost]),
    });
    for await (const update of updates) {
      const questions = questionsIn(update);
      isWaiting ||= questions !== null;
      interrupts.push(...(questions ?? []));
    }
  } catch (error) {
    held.lost.throwIfAborted();
    if (!live.signal.aborted) {
      throw failureOf(error);
    }
    const answer = await finishedAnswer(exchange, config);
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
    ? asked.map((question: { id?: string; value?: unknown }) => ({
        id: question.id ?? null,
        value: question.value ?? null,
      }))
    : null;
}

/** The answer, if the graph was stopped only after the checkpoint that finished it. */
async function finishedAnswer(
  { attached, thread, input }: GraphExchange,
  config: ThreadConfig,
): Promise<string | null> {
  const { next } = await attached.graph.getState(config);
  const messages = messagesOf(await thread.saver.getTuple(config));
  const given = input.kind === "new" ? input.messages.at(-1)?.id : null;
  const wasTaken = given === null || messages.some(({ id }) => id === given);
  const last = messages.at(-1);
  return next.length === 0 && wasTaken && AIMessage.isInstance(last) ? last.text : null;
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
