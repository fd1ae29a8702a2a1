import type prom from "prom-client";
import type { Registry } from "prom-client";

import type { Observe } from "./observation.ts";

/** The library that keeps the counts and writes them down; loaded when there is something to count. */
export type PromClient = typeof prom;

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Finer below the 0.5 s in which another node's message is found without a hint. */
const DELIVERY_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 30];

/** Registers what is counted and answers with the function that counts. */
export function createInstruments(prom: PromClient, registry: Registry): Observe {
  const add = addTo(prom, registry);
  const observers = [requestInstruments(add), streamInstruments(add), databaseInstruments(add)];
  return (observation) => {
    for (const observe of observers) {
      observe(observation);
    }
  };
}

function addTo(prom: PromClient, registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new prom.Counter({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, of: { buckets: number[]; labelNames?: string[] }) =>
      new prom.Histogram({ name, help, ...of, registers }),
  };
}

type AddInstrument = ReturnType<typeof addTo>;

function requestInstruments(add: AddInstrument): Observe {
  const requests = add.counter(
    "reprise_http_requests_total",
    "Requests that were answered, or whose client went away.",
    ["method", "route", "status"],
  );
  const seconds = add.histogram(
    "reprise_http_request_duration_seconds",
    "Time from a request's headers to the end of its answer; streams are left out.",
    { labelNames: ["method", "route"], buckets: REQUEST_SECONDS },
  );
  const unreadable = add.counter(
    "reprise_http_unreadable_requests_total",
    "Requests that were refused before routing: too slow, too large or no HTTP.",
    ["status"],
  );
  return (observation) => {
    if (observation.kind === "unreadable") {
      unreadable.inc({ status: observation.status });
    } else if (observation.kind === "request") {
      const { route, status, ms } = observation;
      const method = knownMethod(observation.method);
      requests.inc({ method, route, status: status ?? "none" });
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

function streamInstruments(add: AddInstrument): Observe {
  const lag = add.histogram(
    "reprise_stream_lag_seconds",
    "Time from storing a message, by the database's clock, to writing it to a stream that was up to date.",
    { buckets: DELIVERY_SECONDS },
  );
  const messages = add.counter("reprise_stream_messages_total", "Messages written to streams.");
  const stalled = add.counter(
    "reprise_stream_stalled_total",
    "Streams that were cut because their reader took nothing.",
  );
  return (observation) => {
    if (observation.kind === "stalled") {
      stalled.inc();
    } else if (observation.kind === "delivery") {
      messages.inc(observation.messages);
      for (const ms of observation.lagsMs) {
        // two clocks: a message cannot have been written before it was stored
        lag.observe(Math.max(0, ms) / 1000);
      }
    }
  };
}

function databaseInstruments(add: AddInstrument): Observe {
  const appends = add.counter(
    "reprise_appends_total",
    "Messages that were acknowledged to clients; a repeat with its key counts too.",
  );
  const bytes = add.counter("reprise_appended_bytes_total", "UTF-8 bytes of their content.");
  const probes = add.counter(
    "reprise_readiness_probes_total",
    "Readiness probes, by result: ready, failed, late.",
    ["result"],
  );
  const operations = add.histogram(
    "reprise_database_operation_duration_seconds",
    "Time that operations on the database took, their waiting included.",
    { labelNames: ["operation"], buckets: REQUEST_SECONDS },
  );
  const refused = add.counter(
    "reprise_database_refusals_total",
    "Operations that were refused or failed, by error code.",
    ["operation", "code"],
  );
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
