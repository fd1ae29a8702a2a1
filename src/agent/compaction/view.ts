import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";

import { newId } from "../../core/ids.ts";
import type { Task } from "../../core/text/tasks.ts";
import { firstKept, isSummary, summaryMarks } from "../../store/records/messages/summary.ts";
import { filesMark } from "../known-files.ts";
import { markedTasks, tasksMark, tasksText } from "./kept-tasks.ts";

/**
 * A summary is a message of the thread like any other, so that it is stored, mirrored, verified
 * and exported like them. It names the first message that it does not replace:
 *
 *     messages:   q1 a1 q2 a2 q3 [summary, kept from q2] a3 q4
 *     the model:  [summary] q2 a2 q3 a3 q4
 *
 * No message is ever changed or removed. The last summary counts; those before are part of it.
 */
export interface Summary {
  readonly text: string;
  /** Id of the first message that the model still sees unchanged. */
  readonly kept_from: string;
  /** The to-do list that it hides; empty without one. */
  readonly tasks: readonly Task[];
  /** Notes of the files in the results that it hides, as `hiddenFiles` returns them. */
  readonly files: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

/** An assistant's message, because the model wrote it and was paid for it. */
export function summaryMessage({ text, kept_from, tasks, files, usage }: Summary): AIMessage {
  const { input_tokens, output_tokens } = usage;
  return new AIMessage({
    id: newId(),
    content: text,
    additional_kwargs: { ...summaryMarks(kept_from), ...tasksMark(tasks), ...filesMark(files) },
    usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  });
}

/** What the model is to see of a thread. */
export interface View {
  /** The last summary; null if there is none. */
  readonly summary: BaseMessage | null;
  /** The last user message before `kept`, if `kept` begins in the middle of an exchange. */
  readonly request: BaseMessage | null;
  /** The to-do list that the summary hides; empty without one. */
  readonly tasks: readonly Task[];
  /** The messages that no summary covers, oldest first. */
  readonly kept: readonly BaseMessage[];
  /** Position in the thread of the first message after the summary; 0 if there is none. */
  readonly since: number;
}

export function viewOf(messages: readonly BaseMessage[]): View {
  const at = messages.findLastIndex(isSummary);
  const summary = messages[at];
  if (summary === undefined) {
    return { summary: null, request: null, tasks: [], kept: messages, since: 0 };
  }
  const from = firstKept(messages, at);
  const kept = messages.slice(from).filter((message) => !isSummary(message));
  const request = kept[0]?.type === "human" ? undefined : lastOfUser(messages, from);
  const tasks = markedTasks(summary);
  return { summary, request: request ?? null, tasks, kept, since: at + 1 };
}

function lastOfUser(messages: readonly BaseMessage[], before: number): BaseMessage | undefined {
  let at = before - 1;
  while (at >= 0 && messages[at]?.type !== "human") {
    at -= 1;
  }
  return messages[at];
}

/** Messages that the model is shown. */
export interface Shown {
  /** Replaces the messages that a summary covers; none without a summary. */
  readonly summary: readonly BaseMessage[];
  /** Messages of the thread, as they are stored. */
  readonly messages: readonly BaseMessage[];
}

export function shownOf({ summary, request, tasks, kept }: View): Shown {
  if (summary === null) {
    return { summary: [], messages: kept };
  }
  const list = tasksText(tasks);
  const parts = [
    "The earlier part of this conversation was summarised to save space; what follows the summary is verbatim.",
    `<summary>\n${summary.text}\n</summary>`,
    ...(list === null ? [] : [list]),
    ...(request === null
      ? []
      : [
          `The request that is being worked on, word for word:\n\n<request>\n${request.text}\n</request>`,
        ]),
  ];
  return { summary: [new HumanMessage(parts.join("\n\n"))], messages: kept };
}
