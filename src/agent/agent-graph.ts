import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, SystemMessage } from "@langchain/core/messages";
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
import { ToolNode } from "@langchain/langgraph/prebuilt";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { appendMessages } from "./append-messages.ts";

export interface AgentGraphParts {
  readonly model: BaseChatModel;
  readonly tools: readonly StructuredToolInterface[];
  readonly systemPrompt: string;
  readonly saver: BaseCheckpointSaver;
  /** What the model is shown of a thread. */
  readonly shown: (messages: readonly BaseMessage[]) => readonly BaseMessage[];
}

/** The node that calls the model. */
export const MODEL_NODE = "model_request";

/** The node that carries out tools; an agent without tools has none. */
export const TOOLS_NODE = "tools";

/**
 * The agent: it asks the model and carries out the tools that it calls, each call a task of its own,
 * until an answer calls none. Nodes, channels and checkpoints are those of langchain's
 * `createAgent`, so that a thread of either goes on in the other; unlike there, no step looks at
 * every message and no call of a tool is sent the history, so that a step costs the same however
 * long the thread is.
 */
export function agentGraph(parts: AgentGraphParts) {
  const model = new StateGraph(STATE)
    .addNode(MODEL_NODE, modelNode(parts))
    .addEdge(START, MODEL_NODE);
  const { saver: checkpointer, tools } = parts;
  if (tools.length === 0) {
    return model.addEdge(MODEL_NODE, END).compile({ checkpointer });
  }
  return model
    .addNode(TOOLS_NODE, new ToolNode([...tools]))
    .addConditionalEdges(MODEL_NODE, calledTools, [TOOLS_NODE, END])
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

function modelNode({ model, tools, systemPrompt, shown }: AgentGraphParts) {
  const asked = tools.length === 0 ? model : (model.bindTools?.([...tools]) ?? model);
  const prompt =
    systemPrompt === ""
      ? []
      : [new SystemMessage({ content: [{ type: "text", text: systemPrompt }] })];
  return async ({ messages }: State, config: RunnableConfig) => {
    const sent = [...prompt, ...shown(messages)];
    // a client that does not hear of the abort must not hold up the exchange
    const answer = await raceWithSignal(asked.invoke(sent, config), config.signal);
    return { messages: [answer] };
  };
}

function calledTools({ messages }: State): Send[] | typeof END {
  const answer = messages.at(-1);
  const calls = AIMessage.isInstance(answer) ? (answer.tool_calls ?? []) : [];
  return calls.length === 0
    ? END
    : calls.map((call) => new Send(TOOLS_NODE, { lg_tool_call: call }));
}
