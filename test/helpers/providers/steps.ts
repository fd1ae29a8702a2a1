/** An action of a provider while it answers a request. Each API sends it in its own form. */
export type Step =
  | { readonly kind: "text"; readonly text: string }
  /** Claude's is signed and OpenAI's encrypted, each bound to what the request had before it. */
  | { readonly kind: "reasoning"; readonly text: string; readonly isRedacted?: true }
  /** Arguments are sent in pieces of `size` characters; Ollama sends them whole. */
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: string;
      readonly size: number;
      /** Each call gets another one if it is not given. */
      readonly id?: string;
    }
  /** The beginning of a call, with its name and these characters of its arguments. */
  | { readonly kind: "cut_call"; readonly name: string; readonly args: string }
  /** A sign of life that holds nothing of the answer. */
  | { readonly kind: "comment" | "ping" }
  | { readonly kind: "wait"; readonly until: Promise<unknown> | (() => Promise<unknown>) }
  /** The connection is closed without the end of the answer. */
  | { readonly kind: "drop" }
  /**
   * The connection is cut after so many events of the answer and so many characters of the next one: as if it had
   * ended, or with a reset. The other steps are the answer that is not all sent.
   */
  | {
      readonly kind: "cut_at";
      readonly event: number;
      readonly characters: number;
      readonly how: "end" | "reset";
    }
  /** The connection stays open, and nothing more comes. */
  | { readonly kind: "stall" }
  /** An error in the middle of a stream that has begun with status 200; nothing follows. */
  | { readonly kind: "error"; readonly cause: ErrorCause; readonly message?: string }
  /** Why the answer ends; without it, because it is complete or calls tools. */
  | { readonly kind: "stop"; readonly reason: StopReason }
  /** Reported in place of the tokens that the mock counts. */
  | { readonly kind: "usage"; readonly input: number; readonly output: number }
  /** The provider's id of the answer; another one each time without it. */
  | { readonly kind: "answer_id"; readonly id: string }
  /** In place of an answer. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly error?: Readonly<Record<string, string>>;
    };

export type ErrorCause = "overloaded" | "rate_limited" | "failed";

export type StopReason = "length" | "refused" | "context_full" | "paused";

/** Steps that are a part of an answer. */
export type PartStep = Extract<
  Step,
  { readonly kind: "text" | "reasoning" | "call" | "cut_call" | "comment" | "ping" | "error" }
>;

export const text = (words: string): Step => ({ kind: "text", text: words });

export const reasoning = (words: string): Step => ({ kind: "reasoning", text: words });

/** A call of a tool whose arguments come at once. */
export const call = (name: string, args: unknown): Step => ({
  kind: "call",
  name,
  args: JSON.stringify(args),
  size: 1000,
});

export function piecesOf(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

/** The step of a kind that is about a whole answer. */
export function stepOf<Kind extends Step["kind"]>(
  steps: readonly Step[],
  kind: Kind,
): Extract<Step, { readonly kind: Kind }> | undefined {
  return steps.find((step): step is Extract<Step, { readonly kind: Kind }> => step.kind === kind);
}
