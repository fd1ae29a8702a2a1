import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";

import { providerIdsOf } from "./call-ids.ts";
import { callsOf, withCalls } from "./message-calls.ts";

/**
 * Ids of a thread's calls as a provider is sent them: those that it gave, because some refuse ids of another form. An
 * id that another call has was given twice, and stays ours.
 */
export class SentIds {
  /** Our ids of the calls that are known. */
  readonly #own = new Set<string>();
  /** The provider's ids that are sent, by ours. */
  readonly #sent = new Map<string, string>();
  /** Ids that no other call can be sent with. */
  readonly #taken = new Set<string>();

  /** Adds calls, in the order of the thread; false if one has an id with which another was sent. */
  add(messages: readonly BaseMessage[]): boolean {
    let areFree = true;
    for (const message of messages) {
      for (const { id = "" } of callsOf(message)) {
        areFree &&= this.#own.has(id) || !this.#taken.has(id);
        this.#own.add(id);
        this.#taken.add(id);
      }
    }
    return areFree;
  }

  /** Returns an answer whose calls were added, or a result, with the ids that are sent. */
  sent(message: BaseMessage): BaseMessage {
    if (ToolMessage.isInstance(message)) {
      const id = this.#sent.get(message.tool_call_id);
      return id === undefined ? message : withCallId(message, id);
    }
    const calls = callsOf(message);
    const given = providerIdsOf(message);
    if (!AIMessage.isInstance(message) || !calls.some(({ id }, at) => isOther(id, given?.[at]))) {
      return message;
    }
    const sent = calls.map((call, at) => {
      const id = given?.[at] ?? null;
      if (id === null || this.#taken.has(id)) {
        return call;
      }
      this.#taken.add(id);
      this.#sent.set(call.id ?? "", id);
      return { ...call, id };
    });
    return withCalls(message, sent);
  }
}

function isOther(own: string | undefined, given: string | null | undefined): boolean {
  return given !== null && given !== undefined && given !== own;
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
