import type { Registry } from "prom-client";

import type { PromClient } from "./instruments.ts";

const LOOK_MS = 100;
const LAG_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * Measures how late a timer comes that should come every 100 ms: so long a request waits before
 * anything is done for it. Returns the function that stops it.
 */
export function measureEventLoop(prom: PromClient, registry: Registry): () => void {
  const lag = new prom.Histogram({
    name: "reprise_event_loop_lag_seconds",
    help: "How late the event loop comes to a timer, looked at every 100 ms.",
    buckets: LAG_SECONDS,
    registers: [registry],
  });
  let due = performance.now() + LOOK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lag.observe(Math.max(0, now - due) / 1000);
    due = now + LOOK_MS;
  }, LOOK_MS);
  return () => clearInterval(timer);
}
