import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";

import { NO_FACTS } from "../../core/calls.ts";
import { storableText } from "../../core/text/text.ts";
import { type Report, reportStored } from "../../exchange/report-events.ts";
import type { OnStored } from "../../langgraph/session-saver.ts";
import { ArrivingText, reportResult } from "../messages/answer-progress.ts";
import { type CallbackParameters, type Heard, TextHandler } from "../messages/token-stream.ts";

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
  const arriving = new ArrivingText(report);
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
      // a graph may store a model's text in another message
      arriving.complete(message, { isReported: arriving.hasText(message.text) });
      answer = message.text;
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
    handler: new GraphHandler(arriving, durations),
  };
}

/** Models whose text nobody is to see have one of these tags, as in LangGraph's own stream. */
const SILENT: readonly string[] = ["nostream", "langsmith:nostream"];

/** Hears the models and tools of a graph. The models within a tool answer to that tool. */
class GraphHandler extends TextHandler {
  readonly name = "reprise_graph";
  /** Tools by their runs, and what runs within them. */
  readonly #tools = new Map<string, number>();
  readonly #inTools = new Set<string>();
  /** How long the tools of calls ran. */
  readonly #durations: Map<string, number>;

  constructor(heard: Heard, durations: Map<string, number>) {
    super(heard);
    this.#durations = durations;
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
      this.#durations.set(output.tool_call_id, performance.now() - start);
    }
  }

  protected override answerOf(
    ...given: CallbackParameters<"handleChatModelStart">
  ): null | undefined {
    const [, , , parentRunId, , tags = []] = given;
    const isInTool = parentRunId !== undefined && this.#inTools.has(parentRunId);
    return isInTool || tags.some((tag) => SILENT.includes(tag)) ? undefined : null;
  }
}
