import type { Observe } from "../observation.ts";
import { createGauges, type Gauges } from "./gauges.ts";
import { type PromClient, createInstruments } from "./instruments.ts";
import type { Registry } from "prom-client";

export interface Metrics {
  /** Counts. What is observed while the library is still being loaded is counted after it. */
  readonly observe: Observe;
  /** Loads the library now instead of then. */
  start(): void;
  /** Everything in Prometheus' text form, of a size that no client has a say in. */
  text(): Promise<string>;
  /** Stops measuring. Idempotent. */
  close(): void;
}

/** Media type of `text`. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Counts for one service. The library that does it is loaded with the first observation, or by
 * `start`, so that neither starting the service nor importing this package waits for it. `gauged` is
 * called once, when the first observation has been made.
 */
export function createMetrics(gauged: () => Gauges, onFailure: (error: unknown) => void): Metrics {
  let loaded: Loaded | null = null;
  let loading: Promise<Loaded> | null = null;
  let closed = false;

  const start = async (): Promise<Loaded> => {
    try {
      loaded = await load(gauged());
    } catch (error) {
      closed = true;
      onFailure(error);
      throw error;
    }
    if (closed) {
      loaded.stop();
    }
    return loaded;
  };
  const begin = (): Promise<Loaded> => (loading ??= start());

  return {
    observe: (observation) => {
      if (loaded !== null) {
        loaded.observe(observation);
      } else if (!closed) {
        begin().then(
          ({ observe }) => observe(observation),
          () => undefined,
        );
      }
    },
    start: () => {
      begin().catch(() => undefined);
    },
    text: async () => (await begin()).text(),
    close: () => {
      closed = true;
      loaded?.stop();
    },
  };
}

type Loaded = Awaited<ReturnType<typeof load>>;

async function load(gauged: Gauges) {
  const { default: prom } = await import("prom-client");
  const registry = new prom.Registry();
  if (gauged.process !== undefined) {
    registry.setDefaultLabels({ process: String(gauged.process) });
  }
  const observe = createInstruments(prom, registry);
  createGauges(prom, registry, gauged);
  const stop = measureEventLoop(prom, registry);
  return { observe, stop, text: () => registry.metrics() };
}

const TICK_MS = 100;
const LAG_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * Measures the delay of a timer that fires every 100 ms: a request waits for so long before it is
 * processed. Returns the function that stops it.
 */
function measureEventLoop(prom: PromClient, registry: Registry): () => void {
  const lag = new prom.Histogram({
    name: "reprise_event_loop_lag_seconds",
    help: "How late the event loop comes to a timer, measured every 100 ms.",
    buckets: LAG_SECONDS,
    registers: [registry],
  });
  let due = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lag.observe(Math.max(0, now - due) / 1000);
    due = now + TICK_MS;
  }, TICK_MS);
  return () => clearInterval(timer);
}
