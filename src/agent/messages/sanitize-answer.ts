import { failureText } from "../../core/text/result-text.ts";
import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  type ToolCall,
  ToolMessage,
} from "@langchain/core/messages";

import { CALL_EXTRAS, REASONING_DETAILS } from "../models/chat-extras.ts";
import { isPlainId, newId } from "../../core/ids.ts";
import { storableValue } from "../../core/text/storable-value.ts";
import { isStorableName, isStorableText, storableText } from "../../core/text/text.ts";
import type { ToolSet } from "../../core/tools.ts";
import { keepProviderIds } from "./call-ids.ts";
import { keepCallFacts, keepStatus } from "./keep-facts.ts";
import { hasReasoning, withoutReasoning } from "./reasoning.ts";
import { callIdsOf, withCalls } from "./message-calls.ts";

export interface AnswerContext {
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
  /** Facts about these tools and others. */
  readonly declared: ToolSet;
  /** The messages of the thread so far, or the end of them. */
  readonly history: readonly BaseMessage[];
  /** False if the thread has messages before these. */
  readonly isWhole: boolean;
  /** The id that the answer is to get. */
  readonly id: string;
}

/**
 * A model's answer as its thread stores it, followed by the result of each call that cannot be run,
 * so that no provider refuses the history later and the model can correct the call.
 *
 * - The answer gets the given id: some servers give an id twice, and in a thread the
 *   second answer would replace the first.
 * - A call without an id gets one, and so does a call whose id another one in the thread has: some
 *   servers count the calls of each answer from 0, and others refuse a repeated id. The provider's
 *   ids are kept beside them.
 * - A call whose arguments are not a whole JSON object is kept without arguments and refused:
 *   LangChain closes what was cut off, so a file would be written as far as its text had arrived.
 * - A call whose arguments cannot be stored unchanged is kept as they can be stored, and refused: what would run is not
 *   what the model wrote.
 * - A call of an unknown tool is refused with the names of the known tools.
 * - What is known of each call is kept beside it.
 * - Reasoning beside a text that no engine stores unchanged is left out: a provider would refuse it, because it is bound
 *   to that text or is that text.
 */
export function sanitizeAnswer(given: BaseMessage, context: AnswerContext): BaseMessage[] {
  if (!AIMessage.isInstance(given)) {
    return [given];
  }
  const { tools, declared, id } = context;
  const calls = withOwnIds(callsOf(given).map(storableCall), context);
  const answer = answerWith(given, calls);
  answer.id = id;
  answer.lc_kwargs["id"] = answer.id;
  if (calls.length > 0) {
    keepProviderIds(
      answer,
      calls.map(({ given_id }) => given_id),
    );
    keepCallFacts(answer, declared);
  }
  return [answer, ...calls.flatMap((call) => refusalOf(call, tools) ?? [])];
}

/**
 * Returns the answer with these calls. If a call is not what the model wrote, or the store would change the reasoning,
 * a provider would refuse the reasoning from then on: it is left out.
 */
function answerWith(given: AIMessage, calls: readonly Call[]): AIMessage {
  const ids = calls.map(({ given_id }) => ({ id: given_id }));
  const isStored = isStorable(contentOf(given)) && calls.every(({ isCleaned }) => !isCleaned);
  const called = calls.some(({ isChanged }) => isChanged) ? withCalls(given, calls, ids) : given;
  const answer = isStored ? called : withStorableText(called);
  const isKept = isStored && calls.every(({ isUnread }) => !isUnread);
  return isKept || !hasReasoning(answer) ? answer : withoutReasoning(answer);
}

/** Returns the answer as the store keeps it: the next request has the same texts as one after a restart. */
function withStorableText(answer: AIMessage): AIMessage {
  const { id, content, additional_kwargs, response_metadata, usage_metadata, tool_calls } = answer;
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    content: storableValue(content),
    additional_kwargs: storableValue(additional_kwargs),
    response_metadata: storableValue(response_metadata),
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_calls: tool_calls ?? [],
  });
}

function storableCall(call: Call): Call {
  const { name, args } = call;
  return isStorable([name, args])
    ? call
    : {
        ...call,
        name: storableText(name),
        args: storableValue(args),
        isChanged: true,
        isCleaned: true,
      };
}

function contentOf({ content, additional_kwargs, response_metadata }: AIMessage): unknown {
  const { [REASONING_DETAILS]: details, [CALL_EXTRAS]: extras } = additional_kwargs;
  return [content, Reflect.get(response_metadata, "output"), details, extras];
}

function isStorable(value: unknown): boolean {
  if (typeof value === "string") {
    return isStorableText(value);
  }
  return (
    typeof value !== "object" ||
    value === null ||
    Object.entries(value).every(([name, member]) => isStorableName(name) && isStorable(member))
  );
}

interface Call extends ToolCall {
  readonly id: string;
  /** The provider's; empty if it gave none. */
  readonly given_id: string;
  /** True if LangChain's list lacks the call or has it with other values. */
  readonly isChanged: boolean;
  /** True if it cannot be known what the model wanted. */
  readonly isUnread: boolean;
  /** True if its name or arguments had characters that cannot be stored. */
  readonly isCleaned?: true;
}

/**
 * The calls, those with a new id whose id an earlier call of the thread or of the answer has, or had
 * from its provider. One that delegates always gets one: its sub-agent is found by it, in all threads
 * of the session. So does each call if it is not known which ids the thread has.
 */
function withOwnIds(
  calls: readonly Call[],
  { history, isWhole }: Pick<AnswerContext, "history" | "isWhole">,
): readonly Call[] {
  const used = calls.length === 0 || !isWhole ? new Set<string>() : callIdsOf(history);
  return calls.map((call) => {
    const isFree = isWhole && isPlainId(call.id) && !used.has(call.id);
    const keeps = isFree && call.name !== "delegate";
    const own = keeps ? call : { ...call, id: newId(), isChanged: true };
    used.add(own.id).add(own.given_id);
    return own;
  });
}

function callsOf(answer: AIMessage): Call[] {
  // it is unknown whose arguments were cut off if several calls share an id: all are refused
  const cut = new Set(
    chunksOf(answer)
      .filter(({ args }) => !isWhole(args ?? ""))
      .map(({ id }) => id),
  );
  const read = (answer.tool_calls ?? []).map(({ id = "", name, args }): Call => {
    const isCut = cut.has(id);
    return { name, args: isCut ? {} : args, id, given_id: id, isChanged: isCut, isUnread: isCut };
  });
  const unread = (answer.invalid_tool_calls ?? []).map((call): Call => {
    const { name, args = "" } = call;
    const id = call.id ?? "";
    const object = objectIn(args);
    const known = { name: name || "unnamed", args: object ?? {}, id, given_id: id };
    // a call that lacks only its id is valid
    return { ...known, isChanged: true, isUnread: object === null };
  });
  return [...read, ...unread];
}

function chunksOf(
  answer: AIMessage & Partial<Pick<AIMessageChunk, "tool_call_chunks">>,
): NonNullable<AIMessageChunk["tool_call_chunks"]> {
  return answer.tool_call_chunks ?? [];
}

/** True if every text, list and object in a JSON text was closed. */
function isWhole(json: string): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (inText && character === "\\") {
      at += 1;
    } else if (character === '"') {
      inText = !inText;
    } else if (!inText && (character === "{" || character === "[")) {
      depth += 1;
    } else if (!inText && (character === "}" || character === "]")) {
      depth -= 1;
    }
  }
  return depth === 0 && !inText;
}

function objectIn(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { ...value }
      : null;
  } catch {
    return null;
  }
}

function refusalOf(call: Call, tools: readonly string[]): ToolMessage | null {
  const { id, name } = call;
  const why = whyRefused(call, tools);
  if (why === null) {
    return null;
  }
  return keepStatus(
    new ToolMessage({ content: failureText(why), tool_call_id: id, name, status: "error" }),
    "not_run",
  );
}

function whyRefused({ name, isUnread, isCleaned }: Call, tools: readonly string[]): string | null {
  if (!tools.includes(name)) {
    const known = tools.length === 0 ? "you have none" : `your tools are: ${tools.join(", ")}`;
    return `there is no tool of this name; ${known}.`;
  }
  if (isUnread) {
    return "the arguments of this call are not one whole JSON object, so nothing was done. Write the whole call again; if it was cut off for its length, do less with each call.";
  }
  return isCleaned === true
    ? "the arguments of this call have characters that cannot be stored (NUL, or half of a surrogate pair), so nothing was done. Write the call again without them, or write them as escapes that the program understands."
    : null;
}
