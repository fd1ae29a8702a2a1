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
 * models give now and then and Anthropic refuses to read again. Of an answer whose calls could not
 * be read, as older versions kept them without a result, the rest is sent. Each call id is sent only
 * once (`distinctCalls`), and is the provider's own if no other call has it (`withProviderIds`). What
 * was made for an earlier call of the model is taken from `made`.
 */
export function sendable(
  messages: readonly BaseMessage[],
  made: MadeMessages = new WeakMap(),
): readonly BaseMessage[] {
  const sent: BaseMessage[] = [];
  for (const message of withProviderIds(distinctCalls(messages), made)) {
    const readable = AIMessage.isInstance(message) ? readableAnswer(message) : message;
    if (readable !== null) {
      sent.push(readable);
    }
  }
  return sent;
}

/** Messages with other call ids, by those that they were made of. */
export type MadeMessages = WeakMap<BaseMessage, BaseMessage>;

function readableAnswer(answer: AIMessage): AIMessage | null {
  const { content, tool_calls = [], invalid_tool_calls = [] } = answer;
  if (invalid_tool_calls.length > 0) {
    return readableAnswer(withCalls(answer, tool_calls));
  }
  return tool_calls.length > 0 || !isEmpty(content) ? answer : null;
}

function isEmpty(content: AIMessage["content"]): boolean {
  return typeof content === "string"
    ? content.trim() === ""
    : content.every(({ type, text }) => type === "text" && String(text).trim() === "");
}

/**
 * The same messages, with each call id only once and one result for each: strict providers refuse
 * anything else, and older versions kept what they got. A call that has the id of an earlier one
 * gets a suffix, and so does its result. Calls without a result are left out, and of
 * several results of a call the last one stays. A history without repeats is returned unchanged.
 */
function distinctCalls(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  if (!hasRepeats(messages)) {
    return messages;
  }
  const sent: BaseMessage[] = [];
  const used = ownIdsOf(messages);
  const seen = new Set<string>();
  for (let at = 0; at < messages.length;) {
    const end = endOfResults(messages, at);
    sent.push(...distinctStep(messages.slice(at, end), { used, seen }));
    at = end;
  }
  return sent;
}

interface KnownIds {
  /** All ids in the history. */
  readonly used: Set<string>;
  /** Those of the calls so far. */
  readonly seen: Set<string>;
}

function hasRepeats(messages: readonly BaseMessage[]): boolean {
  const calls = new Set<string>();
  const results = new Set<string>();
  for (const message of messages) {
    if (ToolMessage.isInstance(message)) {
      if (isTaken(results, message.tool_call_id)) {
        return true;
      }
      continue;
    }
    for (const call of callsOf(message)) {
      if (isTaken(calls, idOf(call))) {
        return true;
      }
    }
  }
  return false;
}

/** Adds the id; true if it was there. */
function isTaken(known: Set<string>, id: string): boolean {
  return known.size === known.add(id).size;
}

/** Where the results end that follow the message at this index. */
function endOfResults(messages: readonly BaseMessage[], at: number): number {
  let end = at + 1;
  while (end < messages.length && ToolMessage.isInstance(messages[end])) {
    end += 1;
  }
  return end;
}

/** A message and the tool messages that follow it. */
function distinctStep(step: readonly BaseMessage[], known: KnownIds): readonly BaseMessage[] {
  const [answer, ...rest] = step;
  const calls = callsOf(answer);
  if (!AIMessage.isInstance(answer) || calls.length === 0) {
    return step;
  }
  const open = rest.filter((message) => ToolMessage.isInstance(message));
  const kept: ToolCall[] = [];
  const results: ToolMessage[] = [];
  // from the last one, because of several results the last counts
  for (const call of calls.toReversed()) {
    const at = open.findLastIndex(({ tool_call_id }) => tool_call_id === idOf(call));
    const [result] = at === -1 ? [] : open.splice(at, 1);
    if (result !== undefined) {
      kept.unshift(call);
      results.unshift(result);
    }
  }
  const ids = kept.map((call) => distinctId(idOf(call), known));
  const renamed = kept.map((call, index) => ({ ...call, id: ids[index] ?? "" }));
  return [
    withCalls(answer, renamed),
    ...results.map((result, index) => withCallId(result, ids[index] ?? "")),
  ];
}

function distinctId(id: string, { used, seen }: KnownIds): string {
  let distinct = id;
  for (let count = 2; seen.has(distinct) || (distinct !== id && used.has(distinct)); count += 1) {
    distinct = `${id}_${count}`;
  }
  seen.add(distinct);
  return distinct;
}

/**
 * The same messages with the ids that the provider gave: some refuse ids of another form. An id
 * that another call has was given twice, and stays ours. What was sent before is sent the same.
 */
function withProviderIds(
  messages: readonly BaseMessage[],
  made: MadeMessages,
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

function resultWith(message: ToolMessage, id: string, made: MadeMessages): BaseMessage {
  const known = made.get(message);
  return ToolMessage.isInstance(known) && known.tool_call_id === id
    ? known
    : keptIn(made, message, withCallId(message, id));
}

function answerWith(
  message: AIMessage,
  calls: readonly ToolCall[],
  made: MadeMessages,
): BaseMessage {
  const known = made.get(message);
  const ids = callsOf(known);
  return known !== undefined && calls.every(({ id }, at) => id === ids[at]?.id)
    ? known
    : keptIn(made, message, withCalls(message, calls));
}

function keptIn(made: MadeMessages, message: BaseMessage, changed: BaseMessage): BaseMessage {
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

/** The same answer with these calls alone; calls in its content are left out. */
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

/** The calls of an answer; none of any other message. */
export function callsOf(message: BaseMessage | undefined): readonly ToolCall[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}

function idOf({ id }: ToolCall): string {
  return id ?? "";
}
