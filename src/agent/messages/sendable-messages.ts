import { AIMessage, type BaseMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";

import { providerIdsOf } from "./call-ids.ts";

/** The ids of all tool calls in these messages, and those that their providers gave them. */
export function callIdsOf(messages: readonly BaseMessage[]): Set<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    for (const { id } of callsOf(message)) {
      ids.add(id ?? "");
    }
    for (const id of providerIdsOf(message) ?? []) {
      ids.add(id ?? "");
    }
  }
  return ids;
}

/**
 * Messages as every provider takes them: without answers that say nothing and call nothing, which
 * models give now and then and Anthropic refuses to read again. The id of a call is the provider's own if
 * no other call has it (`withProviderIds`). Messages that were made for an earlier call of the model are taken
 * from `made`.
 */
export function sendable(
  messages: readonly BaseMessage[],
  made: RenamedCalls = new WeakMap(),
): readonly BaseMessage[] {
  return withProviderIds(messages, made).filter((message) => !isEmpty(message));
}

/** Messages with other call ids, by those that they were made of. */
type RenamedCalls = WeakMap<BaseMessage, BaseMessage>;

/** Messages that were made for a call of a model, by those that they were made of: the next call sends them again. */
export interface MadeMessages {
  /** As they follow a prefix: see `afterPrefix`. */
  readonly plain: WeakMap<BaseMessage, BaseMessage>;
  readonly renamed: RenamedCalls;
  /** Answers of another provider as text: see `foreignAsText`. */
  readonly texts: WeakMap<BaseMessage, BaseMessage>;
}

export function noMadeMessages(): MadeMessages {
  return { plain: new WeakMap(), renamed: new WeakMap(), texts: new WeakMap() };
}

function isEmpty(message: BaseMessage): boolean {
  if (!AIMessage.isInstance(message) || callsOf(message).length > 0) {
    return false;
  }
  const { content } = message;
  return typeof content === "string"
    ? content.trim() === ""
    : content.every(({ type, text }) => type === "text" && String(text).trim() === "");
}

/**
 * The same messages with the ids that the provider gave: some refuse ids of another form. An id
 * that another call has was given twice, and stays ours. What was sent before is sent the same.
 */
function withProviderIds(
  messages: readonly BaseMessage[],
  made: RenamedCalls,
): readonly BaseMessage[] {
  if (!messages.some(hasOtherIds)) {
    return messages;
  }
  const taken = ownIdsOf(messages);
  const renamed = new Map<string, string>();
  return messages.map((message) => {
    if (ToolMessage.isInstance(message)) {
      const id = renamed.get(message.tool_call_id);
      return id === undefined ? message : resultWith(message, id, made);
    }
    const given = AIMessage.isInstance(message) ? providerIdsOf(message) : null;
    if (!AIMessage.isInstance(message) || given === null || !hasOtherIds(message)) {
      return message;
    }
    const calls = callsOf(message).map((call, at) => {
      const id = given[at] ?? null;
      if (id === null || taken.has(id)) {
        return call;
      }
      taken.add(id);
      renamed.set(idOf(call), id);
      return { ...call, id };
    });
    return answerWith(message, calls, made);
  });
}

function resultWith(message: ToolMessage, id: string, made: RenamedCalls): BaseMessage {
  const known = made.get(message);
  return ToolMessage.isInstance(known) && known.tool_call_id === id
    ? known
    : keptIn(made, message, withCallId(message, id));
}

function answerWith(
  message: AIMessage,
  calls: readonly ToolCall[],
  made: RenamedCalls,
): BaseMessage {
  const known = made.get(message);
  const ids = callsOf(known);
  return known !== undefined && calls.every(({ id }, at) => id === ids[at]?.id)
    ? known
    : keptIn(made, message, withCalls(message, calls));
}

function keptIn(made: RenamedCalls, message: BaseMessage, changed: BaseMessage): BaseMessage {
  made.set(message, changed);
  return changed;
}

function hasOtherIds(message: BaseMessage): boolean {
  const calls = callsOf(message);
  return providerIdsOf(message)?.some((id, at) => id !== null && id !== calls[at]?.id) ?? false;
}

function ownIdsOf(messages: readonly BaseMessage[]): Set<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    for (const call of callsOf(message)) {
      ids.add(idOf(call));
    }
  }
  return ids;
}

function withCallId(result: ToolMessage, tool_call_id: string): ToolMessage {
  const { id, name, content, status, additional_kwargs, response_metadata, artifact } = result;
  return new ToolMessage({
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    content,
    additional_kwargs,
    response_metadata,
    artifact,
    tool_call_id,
  });
}

/**
 * Returns the answer with these calls alone, each for the one at its position in `earlier`. Calls in the content keep
 * their place among its other blocks: a model that thinks between two calls finds both in their order.
 */
export function withCalls(
  answer: AIMessage,
  calls: readonly ToolCall[],
  earlier: readonly Pick<ToolCall, "id">[] = callsOf(answer),
): AIMessage {
  const { tool_calls: _, ...additional_kwargs } = answer.additional_kwargs;
  const { id, content, response_metadata, usage_metadata } = answer;
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    content: typeof content === "string" ? content : contentWith(content, calls, earlier),
    additional_kwargs,
    response_metadata,
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_calls: calls.map(({ id = "", name, args }) => ({ id, name, args, type: "tool_call" })),
  });
}

type Blocks = Exclude<AIMessage["content"], string>;

function contentWith(
  content: Blocks,
  calls: readonly ToolCall[],
  earlier: readonly Pick<ToolCall, "id">[],
): Blocks {
  const left = earlier.map(({ id }, at) => ({ id, call: calls[at] }));
  return content.flatMap((block) => {
    if (block.type === "input_json_delta") {
      return [];
    }
    if (block.type !== "tool_use") {
      return [block];
    }
    // of calls with one id, each is taken once
    const at = left.findIndex(({ id }) => id === block["id"]);
    const call = at === -1 ? undefined : left.splice(at, 1)[0]?.call;
    return call === undefined
      ? []
      : [{ type: "tool_use", id: call.id, name: call.name, input: call.args }];
  });
}

/** The calls of an answer; none of any other message. */
export function callsOf(message: BaseMessage | undefined): readonly ToolCall[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}

function idOf({ id }: ToolCall): string {
  return id ?? "";
}
