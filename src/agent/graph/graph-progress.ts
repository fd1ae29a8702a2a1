import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, AIMessageChunk, BaseMessage, ToolMessage } from "@langchain/core/messages";

import { NO_FACTS } from "../../core/calls.ts";
import { storableText } from "../../core/text.ts";
import { type Report, reportStored } from "../../exchange/report-events.ts";
import type { OnStored } from "../../langgraph/session-saver.ts";
import { reportAnswer, reportResult } from "../answer-progress.ts";
import { cutBeforeHalf } from "../whole-characters.ts";

/** What a graph does, reported as events. */
export interface GraphProgress {
  /** Text of the last answer that was stored. */
  readonly answer: () => string;
  readonly onStored: OnStored;
  readonly handler: BaseCallbackHandler;
}

/**
 * Follows a graph that is not ours. Text is reported as its models write it. Answers, calls and
 * results are reported when a checkpoint stores them: only then is it known what the graph keeps.
 */
export function createGraphProgress(report: Report, before: readonly BaseMessage[]): GraphProgress {
  const known = new Set(before.map(({ id }) => id));
  const written = new Map<string, string>();
  const halves = new Map<string, string>();
  const durations = new Map<string, number>();
  let answer = "";

  const onMessage = (message: unknown): void => {
    if (!BaseMessage.isInstance(message) || known.has(message.id)) {
      return;
    }
    known.add(message.id);
    if (ToolMessage.isInstance(message)) {
      const durationMs = durations.get(message.tool_call_id) ?? 0;
      reportResult(report, message, { durationMs, facts: NO_FACTS });
    } else if (AIMessage.isInstance(message)) {
      const { id: message_id = "", text } = message;
      const half = halves.get(message_id) ?? "";
      if (half !== "") {
        // the answer ends in the middle of a character
        report({ type: "text", message_id, text: half });
      }
      // a graph may store a model's text in another message
      const isWritten = [...written.values()].includes(text);
      reportAnswer(report, message, { isReported: isWritten || written.has(message_id) });
      answer = text;
    }
  };

  return {
    answer: () => answer,
    onStored: (stored, messages) => {
      const ids = new Set(stored.map(({ message_id }) => message_id));
      for (const message of messages) {
        if (BaseMessage.isInstance(message) && ids.has(storableText(message.id ?? ""))) {
          onMessage(message);
        }
      }
      reportStored(report, stored);
    },
    handler: new GraphHandler({
      onText: (message_id, text) => {
        written.set(message_id, (written.get(message_id) ?? "") + text);
        const { whole, half } = cutBeforeHalf((halves.get(message_id) ?? "") + text);
        halves.set(message_id, half);
        if (whole !== "") {
          report({ type: "text", message_id, text: whole });
        }
      },
      onTool: (callId, durationMs) => void durations.set(callId, durationMs),
    }),
  };
}

interface GraphListener {
  readonly onText: (messageId: string, text: string) => void;
  readonly onTool: (callId: string, durationMs: number) => void;
}

/** Models whose text nobody is to see have one of these tags, as in LangGraph's own stream. */
const SILENT: readonly string[] = ["nostream", "langsmith:nostream"];

/** Hears the models and tools of a graph. The models within a tool answer to that tool. */
class GraphHandler extends BaseCallbackHandler {
  readonly name = "reprise_graph";
  readonly lc_prefer_streaming = true;
  override awaitHandlers = true;
  override raiseError = true;
  override ignoreRetriever = true;
  readonly #listener: GraphListener;
  /** Ids of answers by their runs; null until the first chunk. */
  readonly #answers = new Map<string, string | null>();
  /** Tools by their runs, and what runs within them. */
  readonly #tools = new Map<string, number>();
  readonly #inTools = new Set<string>();

  constructor(listener: GraphListener) {
    super();
    this.#listener = listener;
  }

  override handleChainStart(...given: CallbackParameters<"handleChainStart">): void {
    const [, , runId, parentRunId] = given;
    if (parentRunId !== undefined && this.#inTools.has(parentRunId)) {
      this.#inTools.add(runId);
    }
  }

  override handleToolStart(...[, , runId]: CallbackParameters<"handleToolStart">): void {
    this.#inTools.add(runId);
    this.#tools.set(runId, performance.now());
  }

  override handleToolEnd(output: unknown, runId: string): void {
    const start = this.#tools.get(runId);
    this.#tools.delete(runId);
    if (start !== undefined && ToolMessage.isInstance(output)) {
      this.#listener.onTool(output.tool_call_id, performance.now() - start);
    }
  }

  override handleChatModelStart(...given: CallbackParameters<"handleChatModelStart">): void {
    const [, , runId, parentRunId, , tags = []] = given;
    const isInTool = parentRunId !== undefined && this.#inTools.has(parentRunId);
    if (!isInTool && !tags.some((tag) => SILENT.includes(tag))) {
      this.#answers.set(runId, null);
    }
  }

  override handleLLMNewToken(...given: CallbackParameters<"handleLLMNewToken">): void {
    const [token, , runId, , , fields] = given;
    const known = this.#answers.get(runId);
    if (known === undefined) {
      return;
    }
    const message = messageOf(fields?.chunk);
    // as LangChain does: an answer without an id gets that of its run
    const id = known ?? message?.id ?? `run-${runId}`;
    this.#answers.set(runId, id);
    const text = message?.text ?? token;
    if (text !== "") {
      this.#listener.onText(id, text);
    }
  }

  override handleLLMEnd(_output: unknown, runId: string): void {
    this.#answers.delete(runId);
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#answers.delete(runId);
  }
}

type CallbackParameters<
  Method extends
    | "handleChainStart"
    | "handleToolStart"
    | "handleChatModelStart"
    | "handleLLMNewToken",
> = Parameters<NonNullable<BaseCallbackHandler[Method]>>;

function messageOf(chunk: unknown): AIMessageChunk | null {
  return typeof chunk === "object" &&
    chunk !== null &&
    "message" in chunk &&
    AIMessageChunk.isInstance(chunk.message)
    ? chunk.message
    : null;
}
