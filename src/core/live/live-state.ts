import type { CallFacts, LiveCallStatus } from "../calls.ts";
import type { ErrorCode } from "../errors.ts";

/** Activity of an exchange that no message shows. */
export interface LiveState {
  /** The calls of the last answer, in its order. */
  readonly calls: readonly LiveCall[];
  /** Output of calls whose result is not stored; absent in what an earlier version has stored. */
  readonly outputs?: readonly LiveOutput[];
  /** Tokens that the exchange has used so far, without its sub-agents. */
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  /** Why the model is asked again; null if it is not. */
  readonly retry: LiveRetry | null;
  /** What the model thinks of the answer that it writes; null if it does not, or the answer is stored. */
  readonly reasoning: LiveReasoning | null;
}

export interface LiveReasoning {
  readonly message_id: string;
  /** The beginning; empty if the provider does not show it. */
  readonly text: string;
}

export interface LiveCall extends CallFacts {
  readonly call_id: string;
  readonly message_id: string;
  readonly name: string;
  /** Null if their JSON is too long to be shown. */
  readonly args: unknown;
  readonly status: LiveCallStatus;
  readonly duration_ms: number | null;
}

/** The last lines that a call has printed. */
export interface LiveOutput {
  readonly call_id: string;
  /** Lines that it printed before them. */
  readonly lines_before: number;
  /** Whole lines with their line feeds, as `outputLine` gives them: 20 of them and 4,096 bytes in UTF-8 at most. */
  readonly text: string;
}

export interface LiveRetry {
  /** From 2 on. */
  readonly attempt: number;
  readonly code: ErrorCode;
  readonly reason: string;
  /** When the model is asked again, as ISO 8601 text in UTC. */
  readonly until: string;
}
