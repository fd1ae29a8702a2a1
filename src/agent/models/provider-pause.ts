import { setTimeout as sleep } from "node:timers/promises";

import { MAX_RETRY_AFTER_MS } from "./provider-error.ts";

export interface ProviderPause {
  readonly ms: number;
  readonly reason: string;
  /** What an exchange fails with that would have to wait longer than any does; null if all wait. */
  readonly refusal: Error | null;
}

/**
 * Until when providers asked this process to wait. All its exchanges with the provider wait then: one
 * that asks in between would only be refused.
 */
export interface ProviderPauses {
  /** Keeps the longer of this wait and one that is kept already, for a provider or one of its models. */
  keep(name: string, pause: ProviderPause): void;
  /** Resolves once it may be asked. Rejects with the signal's reason, or the refusal. */
  over(
    name: string,
    signal: AbortSignal | undefined,
    onWait: (ms: number, reason: string) => void,
  ): Promise<void>;
}

const NONE = { until: 0, heldUntil: 0, reason: "", refusal: null } as const;

/** A refusal counts so long, without a request: a person who has lifted the limit is not refused until a restart. */
const HELD_MS = 10_000;

/** A shorter wait is not worth a report. */
const REPORTED_MS = 1000;

interface KeptPause extends Omit<ProviderPause, "ms"> {
  readonly until: number;
  readonly heldUntil: number;
}

/** `now` gives milliseconds of a clock that only moves forward. */
export function createProviderPauses(now = (): number => performance.now()): ProviderPauses {
  const pauses = new Map<string, KeptPause>();
  return {
    keep: (name, { ms, ...pause }) => {
      const until = now() + ms;
      if (until > (pauses.get(name)?.until ?? 0) || pause.refusal !== null) {
        pauses.set(name, { until, heldUntil: now() + HELD_MS, ...pause });
      }
    },
    over: async (name, signal, onWait) => {
      for (;;) {
        const { until, heldUntil, reason, refusal } = pauses.get(name) ?? NONE;
        const ms = Math.ceil(until - now());
        if (ms <= 0) {
          return;
        }
        if (refusal !== null && ms > MAX_RETRY_AFTER_MS) {
          if (now() < heldUntil) {
            throw refusal;
          }
          return;
        }
        if (ms >= REPORTED_MS) {
          onWait(ms, reason);
        }
        await sleep(ms, undefined, { signal });
      }
    },
  };
}
