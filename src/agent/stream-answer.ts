import { AIMessage, type AIMessageFields, type BaseMessage } from "@langchain/core/messages";
import { isInterrupted } from "@langchain/langgraph";

import type { AgentThread } from "./agent.ts";
import type { AnswerProgress } from "./answer-progress.ts";
import { MODEL_NODE } from "./agent-graph.ts";
import { AnswerHandler } from "./token-stream.ts";
import { addSummary } from "./compaction/add-summary.ts";
import type { Compaction } from "./compaction/compaction.ts";
import { isPassing } from "../exchange/exchange-failure.ts";
import { isGivenBack } from "../exchange/exchanger.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import { modelFailure } from "./models/failure.ts";
import { droppedFields, isDropped, messagesOf } from "./thread-state.ts";
import { endsExchange } from "./tools-node.ts";

/** Every hook and tool is a step; an agent that works for an hour takes thousands of them. */
const RECURSION_LIMIT = 10_000;

/** What the agent's graph is given: messages to add, or null to continue from its checkpoint. */
export type GraphInput = { readonly messages: BaseMessage[] } | null;

export interface StreamInput {
  readonly context: ExchangeContext;
  readonly thread: AgentThread;
  readonly graphInput: GraphInput;
  readonly compaction: Compaction;
  readonly progress: AnswerProgress;
}

/** How a run of the agent ended, if it did not fail. */
export type RunEnd =
  | { readonly state: "done" | "stopped"; readonly answer: string }
  /** A tool asks a person. */
  | { readonly state: "waiting" };

/**
 * The agent's work on its input. If older messages have to be summarised first, that happens in
 * between, and the agent continues from its checkpoint. If stopped, it keeps the text so far.
 *
 * Error codes: `lease_lost`, `session_ended`, `model_*`, `database_*`.
 */
export async function streamAnswer(input: StreamInput): Promise<RunEnd> {
  const { thread, progress } = input;
  const { held, live } = input.context;
  let { graphInput } = input;
  for (;;) {
    const stop = stopUntilAnswered(live.signal);
    try {
      const stream = await thread.agent.stream(graphInput, {
        ...thread.config,
        streamMode: "updates",
        callbacks: [new AnswerHandler(progress.arriving.heard, () => stop.ignore())],
        durability: "sync",
        recursionLimit: RECURSION_LIMIT,
        signal: AbortSignal.any([stop.signal, held.lost]),
      });
      let isWaiting = false;
      // what the agent does is reported by its nodes
      for await (const update of stream) {
        isWaiting ||= isInterrupted(update);
      }
      return isWaiting ? { state: "waiting" } : { state: "done", answer: progress.text() };
    } catch (error) {
      if (held.lost.aborted) {
        throw held.lost.reason;
      }
      if (live.signal.aborted) {
        const answer = await storedAnswer(input, graphInput);
        if (answer !== null) {
          return { state: "done", answer };
        }
        const kept = await keepPartial(input, { response_metadata: { stopped: true } });
        return { state: "stopped", answer: kept };
      }
      await compactOrThrow(input, oneOf(error));
      graphInput = null;
    } finally {
      stop.ignore();
    }
  }
}

/** Of errors of tools that ran side by side, the one that ends the exchange. */
function oneOf(error: unknown): unknown {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return errors.find(endsExchange) ?? error;
}

/** A signal that is aborted with the given one until the model's answer only has to be stored. */
function stopUntilAnswered(signal: AbortSignal): { signal: AbortSignal; ignore: () => void } {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  if (signal.aborted) {
    onAbort();
  }
  signal.addEventListener("abort", onAbort, { once: true });
  return { signal: stop.signal, ignore: () => signal.removeEventListener("abort", onAbort) };
}

/**
 * The answer if the agent was stopped only after the checkpoint that holds it; null if it had not
 * finished. The thread decides, not what the stream had shown by then.
 */
async function storedAnswer(
  { thread, context }: StreamInput,
  graphInput: GraphInput,
): Promise<string | null> {
  const { next } = await thread.agent.getState(thread.config);
  const messages = messagesOf(await context.saver.getTuple(thread.config));
  const given = graphInput?.messages.at(-1)?.id;
  const wasTaken = given === undefined || messages.some(({ id }) => id === given);
  const last = messages.at(-1);
  return next.length === 0 && wasTaken && AIMessage.isInstance(last) && !isDropped(last)
    ? last.text
    : null;
}

/**
 * Compacts the thread if the agent failed because a summary is due. Throws what it failed for
 * otherwise; what a person saw of the answer is then kept.
 */
async function compactOrThrow(input: StreamInput, error: unknown): Promise<void> {
  const { compaction, thread } = input;
  const { saver, prepared } = input.context;
  const failure = modelFailure(error, prepared.modelName, prepared.keyless);
  const full = failure.code === "model_context_full";
  if (isPassing(failure)) {
    // no answer of a provider has failed
    throw failure;
  }
  if (!full && !compaction.isDue()) {
    await keepPartial(input, droppedFields(failure.code));
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
  { thread, progress, context }: StreamInput,
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
