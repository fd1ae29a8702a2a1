import type prom from "prom-client";
import type { Counter, Histogram, Registry } from "prom-client";

import type { Observation, Observe } from "./observation.ts";

/** The library that keeps the counts and writes them down; loaded when there is something to count. */
export type PromClient = typeof prom;

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Finer below the 0.5 s in which another node's message is found without a hint. */
const DELIVERY_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 30];

/** Registers what is counted and answers with the function that counts. */
export function createInstruments(prom: PromClient, registry: Registry): Observe {
  const requests = requestInstruments(prom, registry);
  const streams = streamInstruments(prom, registry);
  const database = databaseInstruments(prom, registry);
  return (observation) => {
    requests(observation);
    streams(observation);
    database(observation);
  };
}

function requestInstruments(prom: PromClient, registry: Registry): Observe {
  const registers = [registry];
  const requests = new prom.Counter({
    name: "reprise_http_requests_total",
    help: "Requests that were answered, or whose client went away.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const seconds = new prom.Histogram({
    name: "reprise_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its answer; streams are left out.",
    labelNames: ["method", "route"],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const unreadable = new prom.Counter({
    name: "reprise_http_unreadable_requests_total",
    help: "Requests that were refused before routing: too slow, too large or no HTTP.",
    labelNames: ["status"],
    registers,
  });
  return (observation) => {
    if (observation.kind === "unreadable") {
      unreadable.inc({ status: observation.status });
    } else if (observation.kind === "request") {
      const { route, status, ms } = observation;
      const method = knownMethod(observation.method);
      requests.inc({ method, route, status });
      if (!route.endsWith("/stream")) {
        seconds.observe({ method, route }, ms / 1000);
      }
    }
  };
}

/** Clients may send some thirty others; each would be a separate series. */
function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST"].includes(method) ? method : "other";
}

function streamInstruments(prom: PromClient, registry: Registry): Observe {
  const registers = [registry];
  const lag = new prom.Histogram({
    name: "reprise_stream_lag_seconds",
    help: "Time from storing a message, by the database's clock, to writing it to a stream that was up to date.",
    buckets: DELIVERY_SECONDS,
    registers,
  });
  const messages = counter("reprise_stream_messages_total", "Messages written to streams.");
  const stalled = counter(
    "reprise_stream_stalled_total",
    "Streams that were cut because their reader took nothing.",
  );
  return (observation) => {
    if (observation.kind === "stalled") {
      stalled.inc();
    } else if (observation.kind === "delivery") {
      messages.inc(observation.messages);
      observeLags(lag, observation);
    }
  };

  function counter(name: string, help: string): Counter {
    return new prom.Counter({ name, help, registers });
  }
}

function observeLags(
  lag: Histogram,
  { lagsMs }: Extract<Observation, { readonly kind: "delivery" }>,
): void {
  for (const ms of lagsMs) {
    // two clocks: a message cannot have been written before it was stored
    lag.observe(Math.max(0, ms) / 1000);
  }
}

function databaseInstruments(prom: PromClient, registry: Registry): Observe {
  const registers = [registry];
  const appends = new prom.Counter({
    name: "reprise_appends_total",
    help: "Messages that were acknowledged to clients; a repeat with its key counts too.",
    registers,
  });
  const bytes = new prom.Counter({
    name: "reprise_appended_bytes_total",
    help: "UTF-8 bytes of their content.",
    registers,
  });
  const probes = new prom.Counter({
    name: "reprise_readiness_probes_total",
    help: "Readiness probes, by result: ready, failed, late.",
    labelNames: ["result"],
    registers,
  });
  const operations = new prom.Histogram({
    name: "reprise_database_operation_duration_seconds",
    help: "Time that operations on the database took, their waiting included.",
    labelNames: ["operation"],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const refused = new prom.Counter({
    name: "reprise_database_refusals_total",
    help: "Operations that were refused or failed, by error code.",
    labelNames: ["operation", "code"],
    registers,
  });
  return (observation) => {
    switch (observation.kind) {
      case "append":
        appends.inc();
        bytes.inc(observation.bytes);
        break;
      case "probe":
        probes.inc({ result: observation.result });
        break;
      case "operation":
        operations.observe({ operation: observation.operation }, observation.ms / 1000);
        if (observation.outcome !== "done") {
          refused.inc({ operation: observation.operation, code: observation.outcome });
        }
        break;
      default:
    }
  };
}
