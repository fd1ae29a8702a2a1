import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../../core/errors.ts";
import type { AgentThread } from "../agent.ts";
import type { Compacted } from "../../exchange/exchanger.ts";
import type { Prepared } from "../exchange-context.ts";
import type { CallModel } from "../models/call-model.ts";
import { modelFailure } from "../models/failure.ts";
import { messagesOf, threadStateOf } from "../thread-state.ts";
import { addSummary } from "./add-summary.ts";
import { summariseUpTo } from "./compaction.ts";
import { cutToLastExchange } from "./cut.ts";
import { viewOf } from "./view.ts";

/**
 * Summarises all but a thread's last exchange, because somebody asked for it.
 *
 * Error codes: `exchange_interrupted`, `call_limit_reached`, `model_*`.
 */
export async function compactThread(input: {
  readonly thread: AgentThread;
  readonly saver: BaseCheckpointSaver;
  readonly prepared: Prepared;
  readonly signal: AbortSignal;
  readonly callModel: CallModel;
}): Promise<Compacted["outcome"]> {
  const { thread, saver, prepared, signal, callModel } = input;
  const { openCalls } = threadStateOf(
    await saver.getTuple({ configurable: { thread_id: thread.id } }),
  );
  if (openCalls.length > 0) {
    throw new RepriseError(
      "exchange_interrupted",
      "Tool calls of the last exchange have no result yet; continue it (/continue) or send a message first.",
    );
  }
  const tuple = await saver.getTuple({ configurable: { thread_id: thread.id } });
  const view = viewOf(messagesOf(tuple));
  const cut = cutToLastExchange(view.kept);
  if (cut === 0) {
    return "nothing";
  }
  try {
    const { model, window } = prepared;
    await addSummary(thread, await summariseUpTo({ model, window, signal, callModel, view, cut }));
    return "compacted";
  } catch (error) {
    if (signal.aborted) {
      return "stopped";
    }
    throw modelFailure(error, prepared.modelName, prepared.keyless);
  }
}
