import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { raceWithSignal, type RunnableConfig } from "@langchain/core/runnables";
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

import { factsOfCall } from "../core/calls.ts";
import type { ToolSet } from "../core/tools.ts";
import { appendMessages } from "../langgraph/append-messages.ts";
import { partOf } from "../langgraph/thread-part.ts";
import type { EndedCall } from "./answer-progress.ts";
import type { CallModel } from "./models/call-model.ts";
import { droppedAnswer } from "./thread-state.ts";
import { callsOf, type MadeMessages, sendable } from "./sendable-messages.ts";
import { sanitizeAnswer } from "./sanitize-answer.ts";
import { ANSWER_ID } from "./token-stream.ts";
import { ExchangeToolNode, type ExchangeTools } from "./tools-node.ts";

export interface AgentGraph extends ExchangeTools {
  readonly model: BaseChatModel;
  readonly tools: readonly StructuredToolInterface[];
  readonly systemPrompt: string;
  readonly callModel: CallModel;
  /** Called before a model is shown anything; may ask a person. */
  readonly askAtLimit?: (() => Promise<void>) | null;
  /** What the model is shown of a thread. */
  readonly shown: (messages: readonly BaseMessage[]) => readonly BaseMessage[];
  /** What was sent to models in place of messages of the thread. */
  readonly made?: MadeMessages | undefined;
  /** Called with each answer, too. */
  readonly onMessage: ExchangeTools["onMessage"];
}

/** The node that calls the model. */
export const MODEL_NODE = "model_request";

/** The node that runs tools; missing in an agent without tools. */
export const TOOLS_NODE = "tools";

/**
 * The agent: it asks the model and runs the tools that it calls, each call a separate task, until
 * an answer calls none. Nodes, channels and checkpoints are those of langchain's
 * `createAgent`, so that either can continue a thread of the other; unlike there, storing a step
 * does not check the existing messages and no call of a tool is sent the history. What the model
 * answers is stored as `sanitizeAnswer` returns it, and what it is sent is checked by `sendable`.
 */
export function agentGraph(graph: AgentGraph) {
  const model = new StateGraph(STATE)
    .addNode(MODEL_NODE, modelNode(graph))
    .addEdge(START, MODEL_NODE);
  const { saver: checkpointer, tools } = graph;
  if (tools.length === 0) {
    return model.addEdge(MODEL_NODE, END).compile({ checkpointer });
  }
  return model
    .addNode(TOOLS_NODE, new ExchangeToolNode(tools, graph))
    .addConditionalEdges(MODEL_NODE, calledTools, [TOOLS_NODE, MODEL_NODE, END])
    .addEdge(TOOLS_NODE, MODEL_NODE)
    .compile({ checkpointer });
}

const STATE = new StateSchema({
  messages: new ReducedValue(MessagesValue.valueSchema, {
    inputSchema: MessagesValue.inputSchema,
    reducer: appendMessages,
  }),
});

interface State {
  readonly messages: readonly BaseMessage[];
}

function modelNode(graph: AgentGraph) {
  const { model, tools, systemPrompt, declared } = graph;
  const asked = tools.length === 0 ? model : (model.bindTools?.([...tools]) ?? model);
  const names = tools.map(({ name }) => name);
  const prompt =
    systemPrompt === ""
      ? []
      : [new SystemMessage({ content: [{ type: "text", text: systemPrompt }] })];
  return async ({ messages }: State, config: RunnableConfig) => {
    await graph.askAtLimit?.();
    const dropped = droppedAnswer(messages);
    const history = dropped === null ? messages : messages.slice(0, -1);
    const sent = [...prompt, ...sendable(graph.shown(history), graph.made)];
    const given = await graph.callModel({
      id: dropped?.id,
      signal: config.signal,
      ask: async (id) => {
        const metadata = { ...config.metadata, [ANSWER_ID]: id };
        const asking = asked.invoke(sent, { ...config, metadata });
        // a client that does not hear of the abort must not hold up the exchange
        const answer = await raceWithSignal(asking, config.signal);
        const isWhole = partOf(messages) === null;
        return sanitizeAnswer(answer, { tools: names, declared, history, isWhole, id });
      },
    });
    for (const message of given) {
      graph.onMessage(message, refusedCall(message, given[0], declared));
    }
    return { messages: given };
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

/** The calls that have no result yet; none if the model is next. */
function calledTools({ messages }: State): Send[] | typeof MODEL_NODE | typeof END {
  const at = messages.findLastIndex((message) => !ToolMessage.isInstance(message));
  const calls = callsOf(messages[at]);
  if (calls.length === 0) {
    return END;
  }
  const results = messages.slice(at + 1).filter((message) => ToolMessage.isInstance(message));
  const answered = new Set(results.map(({ tool_call_id }) => tool_call_id));
  const open = calls.filter(({ id }) => !answered.has(id ?? ""));
  return open.length === 0
    ? MODEL_NODE
    : open.map((call) => new Send(TOOLS_NODE, { lg_tool_call: call }));
}
