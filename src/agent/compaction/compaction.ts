import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { RepriseError } from "../../core/errors.ts";
import { estimateTokens } from "../../core/text/text.ts";
import type { Report } from "../../exchange/report-events.ts";
import { reportUsage } from "../messages/answer-progress.ts";
import { endsExchange } from "../tools-node.ts";
import { cutToFit } from "./cut.ts";
import { type SummariseInput, summariseUpTo } from "./summarise.ts";
import { tasksText } from "./kept-tasks.ts";
import { type Shown, shownOf, type View, viewOf } from "./view.ts";
import { tokenCountOf } from "../../store/records/messages/mirror-row.ts";

interface CompactionInput extends Omit<SummariseInput, "view" | "cut" | "window"> {
  readonly report: Report;
}

/**
 * Shares of the context window: above FULL_SHARE older messages are summarised, KEPT_SHARE is kept.
 */
const FULL_SHARE = 0.8;
const KEPT_SHARE = 0.2;

export type Compaction = ReturnType<typeof createCompaction>;

/** Keeps one exchange's calls of the model within the model's context. */
export function createCompaction(input: CompactionInput) {
  const { models, report } = input;
  let due = false;
  let off = false;
  return {
    /** The messages with a summary in place of those it covers; throws if one is due. */
    shown: (messages: readonly BaseMessage[], view: View, prefixTokens: () => number): Shown => {
      const tokens = contextTokens(messages, view, prefixTokens);
      due = !off && mustSummarise({ messages, view, tokens }, models.current.window);
      if (due) {
        throw new RepriseError("internal", "The thread has to be summarised first.");
      }
      return shownOf(view);
    },
    /** True if the agent failed because a summary is due. */
    isDue: () => due,
    /**
     * Asked when a summary is due or, `full`, when the provider refused the exchange as too long. The
     * summary that has to be added to the thread, `continue` if the model may be asked without one,
     * or null if nothing can be done.
     */
    compact: async (
      messages: readonly BaseMessage[],
      full: boolean,
    ): Promise<AIMessage | "continue" | null> => {
      due = false;
      const view = viewOf(messages);
      const { window } = models.current;
      // a provider that refused may read less than is known of it
      const read = full
        ? Math.min(
            window,
            contextTokens(messages, view, () => 0),
          )
        : window;
      const cut = cutOf(messages, view, read * KEPT_SHARE);
      if (cut === 0 || off) {
        return null;
      }
      try {
        const summary = await summariseUpTo({ ...input, window: read, view, cut });
        report({
          type: "notice",
          sentence: "Older messages were summarised for the model; all of them stay readable.",
        });
        reportUsage(report, summary);
        return summary;
      } catch (error) {
        if (endsExchange(error)) {
          throw error;
        }
        if (input.signal.aborted) {
          // the agent finds out by itself
          return "continue";
        }
        off = true;
        if (full) {
          return null;
        }
        report({
          type: "notice",
          sentence:
            "The older messages could not be summarised now, so the model gets all of them.",
        });
        return "continue";
      }
    },
  };
}

/** True if a model with this context is to read a summary in place of older messages. */
export function mustSummarise(
  {
    messages,
    view,
    tokens,
  }: {
    readonly messages: readonly BaseMessage[];
    readonly view: View;
    /** As `contextTokens`. */
    readonly tokens: number;
  },
  window: number,
): boolean {
  return tokens > window * FULL_SHARE && cutOf(messages, view, window * KEPT_SHARE) > 0;
}

/** 0 if nothing can go, or the model has not answered to the last summary yet. */
function cutOf(messages: readonly BaseMessage[], view: View, keep: number): number {
  const isFresh = view.summary !== null && view.since === messages.length;
  return isFresh ? 0 : cutToFit(view.kept, keep);
}

/**
 * Tokens that the model would read now: what the provider counted with its last answer to this
 * view, and estimates of what came after; estimates alone if it has not counted yet.
 */
export function contextTokens(
  messages: readonly BaseMessage[],
  view: View,
  prefixTokens: () => number,
): number {
  for (let at = messages.length - 1; at >= view.since; at -= 1) {
    const counted = countedTokens(messages[at]);
    if (counted > 0) {
      return counted + sumTokens(messages.slice(at + 1));
    }
  }
  const { summary, request, tasks, kept } = view;
  const shown = [summary, request, ...kept].filter((message) => message !== null);
  return prefixTokens() + sumTokens(shown) + estimateTokens(tasksText(tasks) ?? "");
}

function countedTokens(message: BaseMessage | undefined): number {
  if (!AIMessage.isInstance(message)) {
    return 0;
  }
  const { input_tokens = 0, output_tokens = 0 } = message.usage_metadata ?? {};
  return input_tokens > 0 ? input_tokens + output_tokens : 0;
}

function sumTokens(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + tokenCountOf(message), 0);
}
