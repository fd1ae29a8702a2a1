import { RepriseError } from "../core/errors.ts";
import { threadId } from "../core/threads.ts";
import { createExchangeTree } from "../exchange/exchange-tree.ts";
import type { Compacted } from "../exchange/exchanger.ts";
import type { HeldSession } from "../exchange/lease-holder.ts";
import type { SessionSaver } from "../langgraph/session-saver.ts";
import type { LeaseState } from "../store/records/leases/lease.ts";
import { refusal } from "../workspace/files/refusal.ts";
import { type AgentThread, buildAgent } from "./agent.ts";
import type { OpenedOptions, Prepared } from "./exchange-context.ts";
import { refuseBeyondLimits } from "./refuse-beyond-limits.ts";
import type { CallLedger } from "./call-ledger.ts";
import type { Worked } from "./driver/thread-holder.ts";
import { createCallModel } from "./call-model.ts";
import { modelFailure } from "./models/failure.ts";
import { ModelLine } from "./model-line.ts";
import { messagesOf, threadStateOf } from "./messages/thread-state.ts";
import { addSummary } from "./add-summary.ts";
import { cutToLastExchange } from "./compaction/cut.ts";
import { summariseUpTo } from "./compaction/summarise.ts";
import { viewOf } from "./compaction/view.ts";

interface CompactInput {
  readonly options: OpenedOptions;
  readonly prepared: Prepared;
  readonly saver: SessionSaver;
  readonly calls: CallLedger;
  readonly held: HeldSession;
  readonly leaseState: LeaseState;
  readonly signal: AbortSignal;
}

/**
 * Summarises all but the last exchange of a session's thread, on request.
 *
 * Error codes: `exchange_interrupted`, `call_limit_reached`, `budget_reached`,
 * `price_limit_reached`, `model_*`.
 */
export async function compactThread(input: CompactInput): Promise<Worked<Compacted>> {
  const { options, prepared, saver, held } = input;
  const { session } = held;
  const { protectedPaths, tools } = options;
  const models = new ModelLine({
    first: prepared,
    fallback: prepared.fallback,
    open: prepared.openFallback,
  });
  const agent = buildAgent({
    ...prepared,
    models,
    restricting: prepared.judge.restricting,
    session,
    saver,
    delegate: null,
    protectedPaths,
    tools,
    asks: false,
    permit: runsNoTools,
    permitFiles: runsNoTools,
    keep: runsNoTools,
  });
  const thread_id = threadId(session.id, session.thread_suffix);
  const outcome = await summarise(input, models, {
    agent,
    config: { configurable: { thread_id } },
  });
  held.lost.throwIfAborted();
  return {
    thread_id,
    finished: !held.wasInterrupted && outcome === "compacted",
    end: null,
    result: ({ session }) => ({ outcome, session }),
  };
}

function runsNoTools(): Promise<never> {
  return Promise.reject(refusal("a summary runs no tools"));
}

async function summarise(
  input: CompactInput,
  line: ModelLine,
  thread: AgentThread,
): Promise<Compacted["outcome"]> {
  const { options, prepared, saver, calls, held } = input;
  const tuple = await saver.getTuple(thread.config);
  if (threadStateOf(tuple).openCalls.length > 0) {
    throw new RepriseError(
      "exchange_interrupted",
      "Tool calls of the last exchange have no result yet; continue it (/continue) or send a message first.",
    );
  }
  const view = viewOf(messagesOf(tuple));
  const cut = cutToLastExchange(view.kept);
  if (cut === 0) {
    return "nothing";
  }
  const { window } = prepared;
  const signal = AbortSignal.any([input.signal, held.lost]);
  const tree = createExchangeTree(options.limits);
  const { models, pauses, store } = options;
  const mayCall = refuseBeyondLimits({ store, tree, calls, state: input.leaseState });
  const callModel = createCallModel({ models, pauses, prepared, mayCall, calls });
  try {
    await addSummary(
      thread,
      await summariseUpTo({ models: line, window, signal, callModel, view, cut }),
    );
    return "compacted";
  } catch (error) {
    if (signal.aborted) {
      return "stopped";
    }
    throw modelFailure(error, prepared.modelName, prepared.keyless);
  }
}
