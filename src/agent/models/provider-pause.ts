import { setTimeout as sleep } from "node:timers/promises";

/**
 * Until when providers asked this process to wait. All its exchanges with the provider wait then: one
 * that asks in between would only be refused.
 */
export interface ProviderPauses {
  /** Keeps the longer of this wait and one that is kept already. */
  keep(provider: string, pause: { readonly ms: number; readonly reason: string }): void;
  /** Resolves once the provider may be asked. Rejects with the signal's reason. */
  over(
    provider: string,
    signal: AbortSignal | undefined,
    onWait: (ms: number, reason: string) => void,
  ): Promise<void>;
}

/** A shorter wait is not worth a report. */
const REPORTED_MS = 1000;

export function createProviderPauses(): ProviderPauses {
  const pauses = new Map<string, { readonly until: number; readonly reason: string }>();
  return {
    keep: (provider, { ms, reason }) => {
      const until = performance.now() + ms;
      if (until > (pauses.get(provider)?.until ?? 0)) {
        pauses.set(provider, { until, reason });
      }
    },
    over: async (provider, signal, onWait) => {
      for (;;) {
        const { until, reason } = pauses.get(provider) ?? { until: 0, reason: "" };
        const ms = Math.ceil(until - performance.now());
        if (ms <= 0) {
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
