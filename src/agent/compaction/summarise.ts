import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";

import { RepriseError } from "../../core/errors.ts";
import { estimateTokens } from "../../core/text/text.ts";
import type { CallModel } from "../call-model.ts";
import { wholeAnswer } from "../messages/ended-answer.ts";
import type { CallOptions } from "../models/call-options.ts";
import { hiddenFiles } from "../known-files.ts";
import { modelFailure } from "../models/failure.ts";
import type { ModelLine } from "../model-line.ts";
import { summaryPrompt } from "../summary-prompt.ts";
import { hiddenTasks } from "./kept-tasks.ts";
import { transcriptParts } from "./transcript.ts";
import { type Summary, summaryMessage, type View } from "./view.ts";

export interface SummariseInput {
  readonly models: ModelLine;
  /** Tokens that the model reads at most. */
  readonly window: number;
  readonly signal: AbortSignal;
  readonly callModel: CallModel;
  readonly view: View;
  /** Position in the view of the first message that is not summarised. */
  readonly cut: number;
}

/**
 * The share of the window for the conversation: prompt, previous summary and answer need the rest.
 * The second is for when the estimate of what fits was wrong.
 */
const SHARES = [0.75, 0.3] as const;
const SUMMARY_SHARE = 0.05;
const WORDS_PER_TOKEN = 0.75;
const MAX_WORDS = 1500;
const MIN_WORDS = 100;

/**
 * The summary of everything before a position in a view: in one call, or if the messages are too long
 * for one in several, each of which continues the summary. Throws what the provider's client throws,
 * and `model_failed` for a model that says nothing; an answer that is not whole is an error, as of `wholeAnswer`.
 */
export async function summariseUpTo(input: SummariseInput): Promise<AIMessage> {
  const [share, smaller] = SHARES;
  try {
    return await summariseBy(share, input);
  } catch (error) {
    if (modelFailure(error, "").code !== "model_context_full") {
      throw error;
    }
    return summariseBy(smaller, input);
  }
}

async function summariseBy(share: number, input: SummariseInput): Promise<AIMessage> {
  const { models, window, signal, callModel, view, cut } = input;
  const words = Math.floor(window * SUMMARY_SHARE * WORDS_PER_TOKEN);
  const prompt = summaryPrompt(Math.min(MAX_WORDS, Math.max(MIN_WORDS, words)));
  const usage = { input_tokens: 0, output_tokens: 0 };
  let text = view.summary?.text ?? "";
  for (const part of transcriptParts(view.kept.slice(0, cut), window * share)) {
    const sent = [new SystemMessage(prompt), new HumanMessage(material(text, part))];
    const answer = await models.ask((asked) =>
      callModel({
        model: asked,
        signal,
        sent,
        ask: async (_id, meter) => {
          const options: RunnableConfig & Partial<CallOptions> = { signal, meter };
          const given = await asked.model.invoke(sent, options);
          meter.take(given);
          return wholeAnswer(given);
        },
      }),
    );
    const counted = usageOf(answer, sent);
    usage.input_tokens += counted.input_tokens;
    usage.output_tokens += counted.output_tokens;
    text = answer.text.trim();
    if (text === "") {
      throw new RepriseError(
        "model_failed",
        "The model gave an empty summary; choose another model or begin a new session.",
      );
    }
  }
  const tasks = hiddenTasks({ ...view, cut });
  const files = hiddenFiles({ ...view, cut });
  return summaryMessage({ text, usage, tasks, files, kept_from: view.kept[cut]?.id ?? "" });
}

function material(before: string, part: string): string {
  const summary = before === "" ? "" : `<summary_so_far>\n${before}\n</summary_so_far>\n\n`;
  return `${summary}<conversation>\n${part}</conversation>`;
}

function usageOf(answer: BaseMessage, sent: readonly BaseMessage[]): Summary["usage"] {
  const counted = AIMessage.isInstance(answer) ? answer.usage_metadata : undefined;
  return {
    input_tokens:
      counted?.input_tokens ?? sent.reduce((sum, { text }) => sum + estimateTokens(text), 0),
    output_tokens: counted?.output_tokens ?? estimateTokens(answer.text),
  };
}
