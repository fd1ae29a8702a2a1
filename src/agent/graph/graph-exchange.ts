import type { StateSnapshot } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Message } from "../../core/sessions.ts";
import type { GraphQuestion } from "../../exchange/events.ts";
import { nothingToContinue } from "../../exchange/nothing-to-continue.ts";
import { reportStored } from "../../exchange/report-events.ts";
import { driveGraph } from "../drive-graph.ts";
import type { ExchangeEnd, ThreadConfig } from "../driven-agent.ts";
import { threadStateOf } from "../thread-state.ts";
import { closeUnsafe, skipInterrupted } from "./close-calls.ts";
import { configOf, type GraphExchange } from "./graph-context.ts";
import { commandOf, type GraphInput, stateUpdate } from "./graph-input.ts";
import { keepInput, keptInput, storeCommand } from "./kept-input.ts";
import { openQuestions, withAnswers } from "./questions.ts";
import { ToolRecorder } from "./started-tools.ts";
import { isDone } from "./task-writes.ts";
import { TokenGuard } from "./token-guard.ts";

/** The exchange between taking the lease and giving it back. */
export async function runGraphExchange(exchange: GraphExchange): Promise<ExchangeEnd> {
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

async function stream(
  exchange: GraphExchange,
  config: ThreadConfig,
  input: unknown,
): Promise<ExchangeEnd> {
  const { attached, thread, late, live, progress, store, isLimited } = exchange;
  return driveGraph(
    {
      thread,
      config,
      signal: live.signal,
      agent: {
        ...attached,
        storesQuestions: false,
        answer: progress.answer,
        hearing: () => {
          const guard = new TokenGuard(store, thread.held.session.id, isLimited);
          const everywhere = [new ToolRecorder(late, config), guard];
          return { handler: progress.handler, everywhere, refused: guard.signal };
        },
        recover: failed,
        keepStopped: () => Promise.resolve(""),
      },
    },
    input,
  );
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
