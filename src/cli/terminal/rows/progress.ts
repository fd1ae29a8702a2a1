import { type Retry, progressRow, SPINNER_MS } from "./progress-row.ts";
import type { Layout } from "./tool-rows.ts";

/** Calls again and again until the returned function is called. */
export type Every = (ms: number, act: () => void) => () => void;

export interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Tokens that the last model call read and wrote: the content of the context. Null while no provider has counted. */
  readonly context_tokens: number | null;
}

type Counts = Omit<Tokens, "context_tokens">;

/** How long an exchange runs, what it uses, and whether its model is asked again. The timer runs only while it does. */
export interface Progress {
  /** `stop` says how it is stopped; null if it cannot be. */
  begin(stop: string | null): void;
  /** The exchange does not run, but it may continue. */
  halt(): void;
  /** The next one is a new exchange. */
  reset(): void;
  isRunning(): boolean;
  /** Time that it ran, in milliseconds, without the waits for a person. */
  spentMs(): number;
  tokens(): Tokens;
  add(more: Counts): void;
  set(sum: Counts): void;
  retry(again: Retry | null): void;
  /** Null while nothing runs. */
  row(doing: string, layout: Layout): string | null;
}

export function createProgress({
  now,
  changed,
  every = everyMs,
}: {
  now(): number;
  changed(): void;
  readonly every?: Every | undefined;
}): Progress {
  let begunAt = 0;
  let spent = 0;
  let stop: string | null = null;
  let retry: Retry | null = null;
  let stopTimer: (() => void) | null = null;
  let tokens: Tokens = { input_tokens: 0, output_tokens: 0, context_tokens: null };
  const spentMs = (): number => spent + (stopTimer === null ? 0 : now() - begunAt);
  return {
    begin: (how) => {
      if (stopTimer === null) {
        [begunAt, stop] = [now(), how];
        stopTimer = every(SPINNER_MS, changed);
      }
    },
    halt: () => {
      spent = spentMs();
      stopTimer?.();
      [stopTimer, retry] = [null, null];
    },
    reset: () => {
      [spent, begunAt] = [0, now()];
      tokens = { ...tokens, input_tokens: 0, output_tokens: 0 };
    },
    isRunning: () => stopTimer !== null,
    spentMs,
    tokens: () => tokens,
    add: (more) => {
      tokens = {
        input_tokens: tokens.input_tokens + more.input_tokens,
        output_tokens: tokens.output_tokens + more.output_tokens,
        context_tokens: more.input_tokens + more.output_tokens,
      };
    },
    set: (sum) => {
      tokens = { ...tokens, ...sum };
    },
    retry: (again) => {
      retry = again;
    },
    row: (doing, layout) =>
      stopTimer === null
        ? null
        : progressRow({ doing, ms: spentMs(), retry, tokens, stop }, now(), layout),
  };
}

function everyMs(ms: number, act: () => void): () => void {
  const timer = setInterval(act, ms).unref();
  return () => clearInterval(timer);
}
