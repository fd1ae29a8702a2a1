import { AIMessage, type AIMessageFields } from "@langchain/core/messages";

import type { AgentThread } from "./agent.ts";
import type { AnswerProgress } from "./answer-progress.ts";
import { MODEL_NODE } from "./agent-graph.ts";
import { AnswerHandler } from "./token-stream.ts";
import { addSummary } from "./compaction/add-summary.ts";
import type { Compaction } from "./compaction/compaction.ts";
import type { DrivenAgent } from "./driven-agent.ts";
import { isPassing } from "../exchange/exchange-failure.ts";
import { isGivenBack } from "../exchange/exchanger.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import { modelFailure } from "./models/failure.ts";
import { droppedFields, messagesOf } from "./thread-state.ts";

/** Every hook and tool is a step; an agent that works for an hour takes thousands of them. */
const RECURSION_LIMIT = 10_000;

export interface BuiltIn {
  readonly context: ExchangeContext;
  readonly thread: AgentThread;
  readonly compaction: Compaction;
  readonly progress: AnswerProgress;
}

/**
 * The built-in agent, as it is driven. If older messages have to be summarised first, that happens in between.
 * It keeps the text so far if it is stopped or its provider fails.
 */
export function builtInAgent(builtIn: BuiltIn): DrivenAgent {
  const { thread, progress } = builtIn;
  return {
    runnable: thread.agent,
    graph: thread.agent,
    storesQuestions: true,
    answer: progress.text,
    hearing: (answered) => ({
      // what the agent does besides is reported by its nodes
      handler: new AnswerHandler(progress.arriving.heard, answered),
      everywhere: [],
      recursionLimit: RECURSION_LIMIT,
    }),
    recover: (error) => compactOrThrow(builtIn, error),
    keepStopped: () => keepPartial(builtIn, { response_metadata: { stopped: true } }),
  };
}

/**
 * Compacts the thread if the agent failed because a summary is due. Throws what it failed for
 * otherwise; what a person saw of the answer is then kept.
 */
async function compactOrThrow(builtIn: BuiltIn, error: unknown): Promise<void> {
  const { compaction, thread, context } = builtIn;
  const { saver, prepared } = context;
  const failure = modelFailure(error, prepared.modelName, prepared.keyless);
  const full = failure.code === "model_context_full";
  if (isPassing(failure)) {
    // no answer of a provider has failed
    throw failure;
  }
  if (!full && !compaction.isDue()) {
    await keepPartial(builtIn, droppedFields(failure.code));
    throw failure;
  }
  const messages = messagesOf(await saver.getTuple(thread.config));
  const summary = await compaction.compact(messages, full);
  if (summary === null) {
    throw failure;
  }
  if (summary !== "continue") {
    await addSummary(thread, summary);
  }
}

/**
 * The text that had arrived becomes the answer, in the place of what an earlier attempt left, and
 * is returned. Sub-agents keep none: their parent would take it for an answer.
 */
async function keepPartial(
  { thread, progress, context }: BuiltIn,
  fields: Pick<AIMessageFields, "response_metadata" | "usage_metadata">,
): Promise<string> {
  const { id, text } = progress.arriving.broken() ?? { id: "", text: "" };
  const isKept =
    context.request.keep_partial !== false &&
    !isGivenBack(context.request.claim !== undefined, context.live);
  if (text === "" || !isKept) {
    return "";
  }
  const message = new AIMessage({ ...fields, id, content: text });
  await thread.agent.updateState(thread.config, { messages: [message] }, MODEL_NODE);
  return text;
}
