import type { Message } from "../../../core/sessions.ts";
import { plural } from "../../../core/text/text.ts";

export interface ReplayLimits {
  /** Exchanges that are shown, the last ones. */
  readonly exchanges: number;
  /** Characters of one message that are shown. */
  readonly characters?: number;
}

/** A message has more rows than a person reads again. */
const MAX_CHARACTERS = 20_000;

/** The messages of the last exchanges, and a sentence about those before; empty if there are none. */
export function lastExchanges(
  messages: readonly Message[],
  { exchanges, characters = MAX_CHARACTERS }: ReplayLimits,
): { readonly shown: readonly Message[]; readonly before: string } {
  const begins = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const from = begins.at(-exchanges) ?? 0;
  const shown = messages.slice(from).map((message) => cut(message, characters));
  const earlier = (shown[0]?.seq ?? 1) - 1;
  return { shown, before: earlier === 0 ? "" : `${plural(earlier, "message")} before this` };
}

function cut(message: Message, characters: number): Message {
  const { content } = message;
  return content.length <= characters
    ? message
    : { ...message, content: `${content.slice(0, characters).toWellFormed()}\n\n… (cut)` };
}
