import type { ToolCall } from "../../../core/sessions.ts";
import type { Retry } from "./progress-row.ts";
import type { ShownResult } from "./shown-call.ts";

interface Counts {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** How an exchange ended. `waiting`: for the answer of a person, and it may continue. */
export type Ending =
  | { readonly state: "done" | "waiting" }
  /** `hasAnswer`: whether text had arrived, which is kept. */
  | { readonly state: "stopped"; readonly hasAnswer: boolean }
  /** The sentence says what happened; empty if somebody else says it. */
  | { readonly state: "failed"; readonly sentence: string }
  /** A graph asks; what it asks is JSON. */
  | { readonly state: "asks"; readonly questions: readonly string[] };

/** Steps of an exchange that a view shows, from any source. Nothing of them is clean. */
export interface Steps {
  user(text: string): void;
  /** The lease is held, or it runs in another process. */
  begun(canStop: boolean): void;
  /** What the model thinks of an answer; a piece may be empty. */
  reasoning(message_id: string, piece: string): void;
  text(message_id: string, piece: string): void;
  endText(): void;
  voidText(message_id: string): void;
  call(call: ToolCall): void;
  /** Lines that a call has printed, as far as they arrive from another process. */
  output(call_id: string, text: string): void;
  result(call: Omit<ToolCall, "args">, result: ShownResult): void;
  retry(again: Retry | null): void;
  /** Tokens of one model call. */
  used(more: Counts): void;
  /** Tokens of the exchange so far. */
  usedInAll(sum: Counts): void;
  note(sentence: string): void;
  summary(text: string): void;
  over(ending: Ending): Promise<void>;
}
