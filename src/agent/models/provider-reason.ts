import { stripVTControlCharacters } from "node:util";

import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import { type Scrub, withoutRepeated } from "../../core/text/scrub.ts";
import { ENDED_EARLY, BrokenAnswerError } from "./follow-end.ts";
import { causes } from "./provider-error.ts";

/** Characters of a reason that are shown. */
const MAX_REASON = 300;
/** Characters that are read of it. */
const MAX_READ = 4000;

/** Texts and secrets by which a provider's reason is cleaned. */
export interface ReasonFilter {
  readonly scrub: Scrub;
  /** Messages that the provider was sent: its reason may quote them. */
  readonly sent: readonly BaseMessage[];
}

/**
 * A provider's own reason for an error, as it may be shown: one line without control characters, keys and secrets, and
 * without what it quotes of the request. Null if it gave none, or nothing of it is left.
 */
export function providerReason(error: unknown, { scrub, sent }: ReasonFilter): string | null {
  const text = reasonIn(causes(error));
  if (text === null) {
    return null;
  }
  // the end of a secret that is cut off here would not be known for one
  const read = text.length > MAX_READ ? text.slice(0, MAX_READ).replace(/\S*$/, "") : text;
  const line = stripVTControlCharacters(read).replace(/\s+/gu, " ").replace(/\p{C}/gu, "").trim();
  const kept = scrub(withoutRepeated(line, textsOf(sent)));
  const shown = cut(kept.replaceAll('"', "'").trim());
  return /[\p{L}\p{N}]/u.test(shown.replaceAll("[…]", "")) ? shown : null;
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_REASON
    ? text
    : `${characters.slice(0, MAX_REASON).join("").trimEnd()}…`;
}

/** Returns the message of a body that a client keeps: an `Error` of the network has no reason of a provider. */
function reasonIn(chain: readonly object[]): string | null {
  const bodies = chain.filter((link) => !(link instanceof Error));
  const own = chain.filter(
    (link) => link instanceof BrokenAnswerError && link.code !== ENDED_EARLY,
  );
  const messages = [...bodies, ...own].map((link) => textOf(link, "message"));
  const named = chain.map((link) => textOf(link, "error"));
  return [...messages, ...named].find((text) => text !== null) ?? null;
}

function textOf(link: object, name: string): string | null {
  const value: unknown = Reflect.get(link, name);
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

function* textsOf(sent: readonly BaseMessage[]): Generator<string> {
  for (const message of sent) {
    yield message.text;
    if (AIMessage.isInstance(message)) {
      for (const { args } of message.tool_calls ?? []) {
        yield JSON.stringify(args);
      }
    }
  }
}
