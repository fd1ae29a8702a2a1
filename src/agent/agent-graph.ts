import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  END,
  MessagesValue,
  ReducedValue,
  Send,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { z } from "zod";

import { factsOfCall } from "../core/calls.ts";
import type { ToolSet } from "../core/tools.ts";
import { appendMessages } from "../langgraph/append-messages.ts";
import type { EndedCall } from "./messages/answer-progress.ts";
import { mayRunOn } from "./messages/ended-answer.ts";
import { callsOf } from "./messages/message-calls.ts";
import { PREFIX_CHANNEL, type Prefix } from "./prefix/prefix.ts";
import { ExchangeToolNode, type ExchangeTools, type FindTool } from "./tools-node.ts";

/** Works in the agent's graph: it answers the messages of a thread, and its answers call its tools. */
export interface Worker {
  readonly tools: readonly StructuredToolInterface[];
  /** Returns a tool besides these, which is not known before it is called; null for none. */
  readonly serverTool?: FindTool | null;
  /**
   * Returns one answer, and results for those of its calls that are refused. The graph runs the others, and asks again
   * with their results.
   */
  answer(thread: GivenThread, config: RunnableConfig): Promise<Answered>;
}

/** A thread as its worker gets it. */
export interface GivenThread {
  readonly messages: readonly BaseMessage[];
  /** Stored prefix of the thread, unchecked; undefined before the first answer. */
  readonly prefix: unknown;
}

export interface Answered {
  readonly messages: readonly BaseMessage[];
  /** The prefix with which the worker asked; it is stored in the step of the answer. Null for a worker without one. */
  readonly prefix: Prefix | null;
}

/** The node in which the worker answers. */
export const MODEL_NODE = "model_request";

/** The node that runs tools; missing in an agent without tools. */
export const TOOLS_NODE = "tools";

/**
 * The agent: it asks its worker and runs the tools that the answer calls, each call a separate task, until
 * an answer calls none. Nodes, channels and checkpoints are those of langchain's
 * `createAgent`, so that either can continue a thread of the other; unlike there, storing a step
 * does not check the existing messages and no call of a tool is sent the history.
 *
 * `onMessage` is called with each answer, too.
 */
export function agentGraph(worker: Worker, exchange: ExchangeTools) {
  const model = new StateGraph(STATE)
    .addNode(MODEL_NODE, answerNode(worker, exchange))
    .addEdge(START, MODEL_NODE);
  const { saver: checkpointer } = exchange;
  const { tools, serverTool = null } = worker;
  if (tools.length === 0 && serverTool === null) {
    return model
      .addConditionalEdges(MODEL_NODE, ({ messages }) => afterAnswer(messages), [MODEL_NODE, END])
      .compile({ checkpointer });
  }
  return model
    .addNode(TOOLS_NODE, new ExchangeToolNode(tools, exchange, serverTool))
    .addConditionalEdges(MODEL_NODE, calledTools, [TOOLS_NODE, MODEL_NODE, END])
    .addEdge(TOOLS_NODE, MODEL_NODE)
    .compile({ checkpointer });
}

const STATE = new StateSchema({
  messages: new ReducedValue(MessagesValue.valueSchema, {
    inputSchema: MessagesValue.inputSchema,
    reducer: appendMessages,
  }),
  [PREFIX_CHANNEL]: z.custom<Prefix>().optional(),
});

interface State {
  readonly messages: readonly BaseMessage[];
  readonly [PREFIX_CHANNEL]?: unknown;
}

function answerNode(worker: Worker, { onMessage, declared, hooks }: ExchangeTools) {
  return async ({ messages, [PREFIX_CHANNEL]: stored }: State, config: RunnableConfig) => {
    const given = await worker.answer({ messages, prefix: stored }, config);
    await hooks?.stop(given.messages[0], messages, config.signal);
    for (const message of given.messages) {
      onMessage(message, refusedCall(message, given.messages[0], declared));
    }
    return {
      messages: [...given.messages],
      ...(given.prefix === null || given.prefix === stored
        ? {}
        : { [PREFIX_CHANNEL]: given.prefix }),
    };
  };
}

/** The results that follow an answer are refusals of its calls, for which nothing ran. */
function refusedCall(
  message: BaseMessage,
  answer: BaseMessage | undefined,
  declared: ToolSet,
): EndedCall | undefined {
  const call = ToolMessage.isInstance(message)
    ? callsOf(answer).find(({ id }) => id === message.tool_call_id)
    : undefined;
  return call === undefined ? undefined : { durationMs: 0, facts: factsOfCall(call, declared) };
}

/** Returns what follows an answer without calls. The model continues one that is not whole. */
function afterAnswer(messages: readonly BaseMessage[]): typeof MODEL_NODE | typeof END {
  return mayRunOn(messages) ? MODEL_NODE : END;
}

/** The calls that have no result yet; none if the model is next. */
function calledTools({ messages }: State): Send[] | typeof MODEL_NODE | typeof END {
  const at = messages.findLastIndex((message) => !ToolMessage.isInstance(message));
  const calls = callsOf(messages[at]);
  if (calls.length === 0) {
    return afterAnswer(messages);
  }
  const results = messages.slice(at + 1).filter((message) => ToolMessage.isInstance(message));
  const answered = new Set(results.map(({ tool_call_id }) => tool_call_id));
  const open = calls.filter(({ id }) => !answered.has(id ?? ""));
  return open.length === 0
    ? MODEL_NODE
    : open.map((call) => new Send(TOOLS_NODE, { lg_tool_call: call }));
}
