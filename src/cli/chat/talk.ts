import type { Conversation } from "../../exchange/conversation.ts";
import type { ExchangeResult } from "../../exchange/events.ts";
import type { CliContext } from "../process/context.ts";

/** A conversation, and how its exchanges are shown. */
export interface Talk {
  readonly cli: CliContext;
  readonly conversation: Conversation;
  readonly json: boolean;
  /** With `json`: each event is a line, and not the whole exchange. */
  readonly events: boolean;
}

/** True for an exchange of the built-in agent that waits; what a graph asks is in its interrupts. */
export function isAsking(result: ExchangeResult): boolean {
  return result.state === "waiting" && result.interrupts === undefined;
}
