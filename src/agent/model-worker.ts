import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { raceWithSignal } from "@langchain/core/runnables";

import type { ToolSet } from "../core/tools.ts";
import { partOf } from "../langgraph/thread-part.ts";
import type { Worker } from "./agent-graph.ts";
import type { CallModel } from "./call-model.ts";
import { droppedAnswer } from "./messages/thread-state.ts";
import { type MadeMessages, sendable } from "./messages/sendable-messages.ts";
import { sanitizeAnswer } from "./messages/sanitize-answer.ts";
import { ANSWER_ID } from "./messages/token-stream.ts";

export interface WorkingModel extends Pick<Worker, "tools"> {
  readonly model: BaseChatModel;
  readonly systemPrompt: string;
  readonly callModel: CallModel;
  /** Facts about the tools. */
  readonly declared: ToolSet;
  /** Called before the model is shown anything; may ask a person. */
  readonly askAtLimit?: (() => Promise<void>) | null;
  /** Messages of a thread that the model is shown. */
  readonly shown: (messages: readonly BaseMessage[]) => readonly BaseMessage[];
  /** Messages that were sent to models in place of those of the thread. */
  readonly made?: MadeMessages | undefined;
}

/** Makes a worker of a model. Its answers are as `sanitizeAnswer` returns them, and `sendable` checks what it is sent. */
export function modelWorker(working: WorkingModel): Worker {
  const { model, tools, systemPrompt, declared } = working;
  const asked = tools.length === 0 ? model : (model.bindTools?.([...tools]) ?? model);
  const names = tools.map(({ name }) => name);
  const prompt =
    systemPrompt === ""
      ? []
      : [new SystemMessage({ content: [{ type: "text", text: systemPrompt }] })];
  return {
    tools,
    answer: async (messages, config) => {
      await working.askAtLimit?.();
      const dropped = droppedAnswer(messages);
      const history = dropped === null ? messages : messages.slice(0, -1);
      const sent = [...prompt, ...sendable(working.shown(history), working.made)];
      return working.callModel({
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
    },
  };
}
