import type { StateSnapshot } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Message } from "../../core/sessions.ts";
import type { GraphQuestion } from "../../exchange/events.ts";
import { nothingToContinue } from "../../exchange/nothing-to-continue.ts";
import type { DrivenAgent, NextInput, Undone } from "../driver/driven-agent.ts";
import { closeSuspects, findSuspects, skipInterrupted } from "./close-calls.ts";
import type { GraphExchange } from "./graph-context.ts";
import { commandOf, type GraphInput, stateUpdate } from "../driver/graph-input.ts";
import { keptInput, storeCommand } from "./kept-input.ts";
import { openQuestions, withAnswers } from "../driver/questions.ts";
import { CallRecorder } from "./graph-calls.ts";
import { unpricedAnswer } from "../refuse-beyond-limits.ts";
import { ToolRecorder } from "./started-tools.ts";
import { isDone } from "../driver/task-writes.ts";
import { TokenGuard } from "./token-guard.ts";

/** Returns a graph that is not ours, as it is driven. */
export function graphAgent(exchange: GraphExchange): DrivenAgent {
  const { attached, late, progress, store, thread, config, input } = exchange;
  return {
    runnable: attached.runnable,
    graph: attached.graph,
    storesQuestions: false,
    repeats: { default: undefined, conceal: (text) => text },
    closeOpen: () => skipInterrupted(exchange),
    inputOf: (pending) => stateUpdate(input, pending),
    undone: (pending) => undone(exchange, pending),
    answer: () => {
      const unpriced = unpricedAnswer(exchange.leaseState, thread.calls);
      if (unpriced !== null) {
        throw unpriced;
      }
      return progress.answer();
    },
    hearing: () => {
      const guard = new TokenGuard(store, thread.calls, exchange.leaseState);
      const recorders = [new ToolRecorder(late, config), new CallRecorder(thread.calls)];
      const everywhere = [...recorders, guard];
      return { handler: progress.handler, everywhere, refused: guard.signal };
    },
    recover: failed,
    keepStopped: () => Promise.resolve(""),
  };
}

async function undone(
  exchange: GraphExchange,
  pending: readonly Message[],
): Promise<Undone | NextInput | null> {
  const { input, store, attached, thread, config } = exchange;
  const { tuple, saver } = thread;
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
    const left = isOpen ? await unfinished(exchange, { input: answers, snapshot, tuple }) : NOTHING;
    return {
      ...left,
      runOn: async (how) => {
        const next = await left.runOn(how);
        await storeCommand(saver, tuple, kept.command);
        return kept.resumes ? next : null;
      },
    };
  }
  if (tuple !== undefined && isOpen) {
    const interrupts = input.kind === "continue" ? onlyAsks({ snapshot, tuple }) : null;
    return interrupts === null
      ? unfinished(exchange, { input, snapshot, tuple })
      : { state: "waiting", interrupts };
  }
  if (input.kind === "command" && !input.resumes) {
    return { input: input.command };
  }
  if (input.kind === "command") {
    throw await nothingToContinue(store, thread.held.fence.session_id);
  }
  return null;
}

const NOTHING: Undone = { suspects: { calls: [], begun: "" }, runOn: () => Promise.resolve(null) };

interface Stopped {
  readonly input: Exclude<GraphInput, { kind: "new" }>;
  readonly snapshot: StateSnapshot;
  readonly tuple: CheckpointTuple;
}

/** Returns what the graph asks, if each of its open tasks waits for a person; null otherwise. */
function onlyAsks(stopped: Omit<Stopped, "input">): readonly GraphQuestion[] | null {
  const asked = openTasks(stopped).map((task) => openQuestions(task, stopped.tuple));
  return asked.length > 0 && asked.every(({ length }) => length > 0) ? asked.flat() : null;
}

function openTasks({ snapshot, tuple }: Omit<Stopped, "input">): readonly string[] {
  return snapshot.tasks.map(({ id }) => id).filter((task) => !isDone(task, tuple.pendingWrites));
}

async function unfinished(exchange: GraphExchange, stopped: Stopped): Promise<Undone> {
  const { input, tuple } = stopped;
  const { saver } = exchange.thread;
  const { suspects, begun } = await findSuspects(exchange, stopped);
  return {
    suspects: {
      calls: suspects.map(({ call: { id, name, args } }) => ({ id, name, args })),
      begun,
    },
    runOn: async ({ closes }) => {
      const closed = closes ? await closeSuspects(exchange, stopped, suspects) : [];
      const tasks = openTasks(stopped).filter((task) => !closed.includes(task));
      return withAnswers({ input, tasks, closed, saver, tuple });
    },
  };
}

function failed(error: unknown): Promise<never> {
  return Promise.reject(
    isRepriseError(error)
      ? error
      : new RepriseError(
          "agent_failed",
          "The agent's own code failed. Fix it, then continue the exchange.",
          { cause: error },
        ),
  );
}
