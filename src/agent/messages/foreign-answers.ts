import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import { MAKER } from "../../store/records/messages/call-facts.ts";

/** In an answer's `response_metadata`: the model that made it in the place of the chosen one. */
const MODEL = "reprise_model";

/**
 * Names who can read the blocks and the reasoning of an answer again: a provider through one of its APIs. Whether one
 * of its models reads those of another is the provider's own decision, so they are always sent.
 */
export function makerOf(asked: { readonly provider: string; readonly api: string }): string {
  return `${asked.provider}/${asked.api}`;
}

/** Keeps beside an answer who made it, and the model unless it is the chosen one; no provider is sent it. */
export function keepMaker(answer: BaseMessage, maker: string, model: string | null = null): void {
  const named = model === null ? {} : { [MODEL]: model };
  answer.response_metadata = { ...answer.response_metadata, [MAKER]: maker, ...named };
  answer.lc_kwargs["response_metadata"] = answer.response_metadata;
}

/** True for an answer of another maker. One without a name is not known to be another's: `sentTo` judges it by its form. */
export function isForeign({ response_metadata }: AIMessage, maker: string): boolean {
  const name: unknown = Reflect.get(response_metadata, MAKER);
  return typeof name === "string" && name !== maker;
}

/** Returns an answer's text and calls alone, with the ids that Reprise gave the calls. */
export function asText({ id, text, tool_calls = [] }: AIMessage): AIMessage {
  return new AIMessage({ ...(id === undefined ? {} : { id }), content: text, tool_calls });
}
