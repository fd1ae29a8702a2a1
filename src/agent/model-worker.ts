import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { raceWithSignal, type RunnableConfig } from "@langchain/core/runnables";

import { isServerTool, type ToolSet } from "../core/tools.ts";
import type { CacheLife } from "../core/model-settings.ts";
import { partOf } from "../langgraph/thread-part.ts";
import type { Answered, Worker } from "./agent-graph.ts";
import type { CallModel, ModelCall } from "./call-model.ts";
import { type Shown, type View, viewOf } from "./compaction/view.ts";
import { droppedAnswer } from "./messages/thread-state.ts";
import { storedAnswer } from "./messages/ended-answer.ts";
import { keepMaker } from "./messages/foreign-answers.ts";
import { sanitizeAnswer } from "./messages/sanitize-answer.ts";
import { ANSWER_ID } from "./messages/token-stream.ts";
import type { AnsweringModel } from "./answering-model.ts";
import type { CallOptions } from "./models/call-options.ts";
import type { ModelLine } from "./model-line.ts";
import { isPrefixRefusal } from "./models/provider-error.ts";
import type { Prefix, ThreadPrefix } from "./prefix/prefix.ts";
import { sentMessages } from "./prefix/sent-messages.ts";
import type { ServerTools } from "./tools/server-tools.ts";

export interface WorkingModel extends Pick<Worker, "tools"> {
  /** Tools of MCP servers; null for none. */
  readonly serverTools?: ServerTools | null;
  readonly models: ModelLine;
  readonly prefix: ThreadPrefix;
  readonly callModel: CallModel;
  /** Facts about the tools. */
  readonly declared: ToolSet;
  /** Called before the model is shown anything; may ask a person. */
  readonly askAtLimit?: (() => Promise<void>) | null;
  /** Messages of a thread that the model is shown. */
  readonly shown: (messages: readonly BaseMessage[], view: View, prefix: Prefix) => Shown;
  /** As of `sentMessages`. */
  readonly sent: WeakMap<BaseMessage, object>;
  /** How long providers keep what they have read. */
  readonly cacheLife: CacheLife;
  /** True if something of the answer with this id was shown. */
  readonly isShown?: (id: string) => boolean;
  /** Called when a provider has refused the reasoning of a thread. */
  readonly onDropped?: (() => void) | undefined;
}

/** Makes a worker of a model. Its answers are as `sanitizeAnswer` returns them, and it is sent what `sentMessages` returns. */
export function modelWorker(working: WorkingModel): Worker {
  const { tools, declared, serverTools = null } = working;
  const names = tools.map(({ name }) => name);
  const withTools = toolBinder();
  return {
    tools,
    serverTool: serverTools === null ? null : (name) => serverTools.tool(name),
    answer: async ({ messages, prefix: stored }, config) => {
      await working.askAtLimit?.();
      const dropped = droppedAnswer(messages);
      const history = dropped === null ? messages : messages.slice(0, -1);
      const view = viewOf(history);
      const allTools = async () => [
        ...tools,
        ...((await serverTools?.offered(view.summary?.id ?? null)) ?? []),
      ];
      let asked = "";
      const answerOf = async (answering: AnsweringModel): Promise<Answered> => {
        let prefix = await working.prefix.current(stored, view, allTools);
        serverTools?.asks(prefix.tools);
        const { summary, messages: shown } = working.shown(history, view, prefix);
        const to = { maker: answering.maker, after: prefix.after, mark: prefix.mark };
        const sent = [
          ...systemMessage(prefix),
          ...summary,
          ...sentMessages(shown, to, working.sent),
        ];
        const ask: ModelCall<readonly BaseMessage[]>["ask"] = async (id, meter) => {
          asked = id;
          const send = async (): Promise<BaseMessage> => {
            const options: CallOptions = {
              cache_life: working.cacheLife,
              drops_reasoning: prefix.drops,
              meter,
            };
            const metadata = { ...config.metadata, [ANSWER_ID]: id };
            const bound = withTools(answering.model, prefix);
            const answer = bound.invoke(sent, { ...config, ...options, metadata });
            // a client that does not hear of the abort must not hold up the exchange
            const given = await raceWithSignal(answer, config.signal);
            meter.take(given);
            return storedAnswer(given);
          };
          const answer = await send().catch((error: unknown) => {
            if (prefix.drops || !isPrefixRefusal(error)) {
              throw error;
            }
            prefix = { ...prefix, drops: true };
            working.onDropped?.();
            return send();
          });
          keepMaker(answer, answering.maker, working.models.replacing);
          const isWhole = partOf(messages) === null;
          const callable = [...names, ...namesOfServers(prefix, declared)];
          return sanitizeAnswer(answer, { tools: callable, declared, history, isWhole, id });
        };
        const call = { id: dropped?.id, model: answering, sent, signal: config.signal, ask };
        return { messages: await working.callModel(call), prefix };
      };
      return working.models.ask(answerOf, () => working.isShown?.(asked) === true);
    },
  };
}

/** Names of the tools of servers that the model was given, also if their server is gone: a call is then refused with a reason. */
function namesOfServers({ tools }: Prefix, declared: ToolSet): readonly string[] {
  return tools
    .map((tool) => tool.function.name)
    .filter((name) => isServerTool(name) && !declared.has(name));
}

function systemMessage({ system }: Prefix): BaseMessage[] {
  return system === "" ? [] : [new SystemMessage({ content: [{ type: "text", text: system }] })];
}

/** Gives a model the tools of a prefix, once for each prefix. */
function toolBinder() {
  let last: {
    readonly model: BaseChatModel;
    readonly tools: Prefix["tools"];
    readonly asked: Asked;
  } | null = null;
  return (model: BaseChatModel, { tools }: Prefix): Asked => {
    if (last?.tools !== tools || last.model !== model) {
      const asked: Asked = tools.length === 0 ? model : (model.bindTools?.([...tools]) ?? model);
      last = { model, tools, asked };
    }
    return last.asked;
  };
}

interface Asked {
  invoke(
    messages: BaseMessage[],
    options: RunnableConfig & Partial<CallOptions>,
  ): Promise<BaseMessage>;
}
