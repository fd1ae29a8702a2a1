import type { Message, Session, ToolCall } from "../core/sessions.ts";

/** What an exchange tells its listener while it is at work. Showing it live only listens. */
export type ExchangeEvent =
  /** The lease is held and the user's message is stored. */
  | { readonly kind: "begun"; readonly session: Session; readonly model: string }
  /** A piece of the answer, as the provider sent it. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool_call"; readonly call: ToolCall }
  /** `failure` is the reason for which the call failed, as the model reads it, else null. */
  | { readonly kind: "tool_result"; readonly name: string; readonly failure: string | null }
  /** A sub-agent is at work. */
  | { readonly kind: "child"; readonly session: Session }
  /** A sub-agent waits, because as many run as may at once. */
  | { readonly kind: "waiting"; readonly running: number }
  /** Something that a person should know, in one sentence. */
  | { readonly kind: "notice"; readonly sentence: string };

export type ExchangeListener = (event: ExchangeEvent) => void;

/** What an exchange left behind. */
export interface ExchangeResult {
  readonly session: Session;
  readonly thread_id: string;
  readonly model: string;
  /** Text of the last assistant message. */
  readonly answer: string;
  /** True when it was stopped on the way; the text that had arrived is kept. */
  readonly stopped: boolean;
  /** The rows that the exchange stored, in order of `seq`: the first 1,000. */
  readonly messages: readonly Message[];
}
