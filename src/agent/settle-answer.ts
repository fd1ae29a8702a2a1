import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  type ToolCall,
  ToolMessage,
} from "@langchain/core/messages";

import { newId } from "../core/ids.ts";

/**
 * A model's answer as its thread keeps it, and behind it the result of each call that cannot be
 * carried out, so that no provider refuses the history later and the model can mend the call.
 *
 * - The answer gets the given id or a new one: some servers give an id twice, and in a thread the
 *   second answer would take the place of the first.
 * - A call without an id gets one.
 * - A call whose arguments are no whole JSON object is kept without arguments and refused. LangChain
 *   closes what was cut off by itself: a file would be written as far as its text had arrived.
 * - A call of a tool that there is not is refused with the names of those there are.
 */
export function settledAnswer(
  given: BaseMessage,
  tools: readonly string[],
  id: string = newId(),
): BaseMessage[] {
  if (!AIMessage.isInstance(given)) {
    return [given];
  }
  const calls = callsOf(given);
  const answer = calls.some(({ isBroken }) => isBroken) ? withCalls(given, calls) : given;
  answer.id = id;
  answer.lc_kwargs["id"] = answer.id;
  return [answer, ...calls.flatMap((call) => refusalOf(call, tools) ?? [])];
}

/** The same answer with these calls alone; what stands of calls in its content goes. */
export function withCalls(answer: AIMessage, calls: readonly ToolCall[]): AIMessage {
  const { tool_calls: _, ...additional_kwargs } = answer.additional_kwargs;
  const { id, content, response_metadata, usage_metadata } = answer;
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    content: typeof content === "string" ? content : content.filter(({ type }) => !isCall(type)),
    additional_kwargs,
    response_metadata,
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_calls: calls.map(({ id = "", name, args }) => ({ id, name, args, type: "tool_call" })),
  });
}

function isCall(type: string): boolean {
  return type === "tool_use" || type === "input_json_delta";
}

interface Call extends ToolCall {
  readonly id: string;
  /** True where LangChain's list has it not, or not as the model wrote it. */
  readonly isBroken: boolean;
  /** True where it cannot be known what the model wanted. */
  readonly isUnread: boolean;
}

function callsOf(answer: AIMessage): Call[] {
  const written = new Map(chunksOf(answer).map(({ id, args }) => [id, args]));
  const read = (answer.tool_calls ?? []).map(({ id = "", name, args }): Call => {
    const isCut = !isWhole(written.get(id) ?? "");
    const known = { name, args: isCut ? {} : args, id: id === "" ? newId() : id };
    return { ...known, isBroken: isCut || id === "", isUnread: isCut };
  });
  const unread = (answer.invalid_tool_calls ?? []).map(({ id, name, args = "" }): Call => {
    const object = objectIn(args);
    // where only the id was missing the call is good
    const known = { name: name || "unnamed", args: object ?? {}, id: id ?? "" };
    return { ...known, id: known.id || newId(), isBroken: true, isUnread: object === null };
  });
  return [...read, ...unread];
}

function chunksOf(
  answer: AIMessage & Partial<Pick<AIMessageChunk, "tool_call_chunks">>,
): NonNullable<AIMessageChunk["tool_call_chunks"]> {
  return answer.tool_call_chunks ?? [];
}

/** True where every text, list and object in a JSON text was closed. */
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

function refusalOf({ id, name, isUnread }: Call, tools: readonly string[]): ToolMessage | null {
  if (!tools.includes(name)) {
    return refused({ id, name }, `there is no tool of this name; ${namesOf(tools)}.`);
  }
  return isUnread
    ? refused(
        { id, name },
        "the arguments of this call are not one whole JSON object, so nothing was done. Write the whole call again; if it was cut off for its length, do less with each call.",
      )
    : null;
}

function namesOf(tools: readonly string[]): string {
  return tools.length === 0 ? "you have none" : `those there are: ${tools.join(", ")}`;
}

function refused({ id, name }: Pick<Call, "id" | "name">, why: string): ToolMessage {
  return new ToolMessage({
    content: `Error: ${why}`,
    tool_call_id: id,
    name,
    status: "error",
  });
}
