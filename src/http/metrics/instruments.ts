import type prom from "prom-client";
import type { Registry } from "prom-client";

import type { Observe } from "../observation.ts";

/** The library that keeps the counts and writes them down; loaded when there is something to count. */
export type PromClient = typeof prom;

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Finer below the 0.5 s in which another node's message is found without a hint. */
const DELIVERY_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 30];

/** Registers what is counted and answers with the function that counts. */
export function createInstruments(prom: PromClient, registry: Registry): Observe {
  const { requests, streams, database, tokens, dropped } = register(prom, registry);
  return (observation) => {
    switch (observation.kind) {
      case "request": {
        const { route, status, ms } = observation;
        const method = knownMethod(observation.method);
        requests.total.inc({ method, route, status: status ?? "none" });
        if (!/\/(?:stream|live|events)$/.test(route)) {
          requests.seconds.observe({ method, route }, ms / 1000);
        }
        break;
      }
      case "unreadable":
        requests.unreadable.inc({ status: observation.status });
        break;
      case "delivery":
        streams.messages.inc(observation.messages);
        for (const ms of observation.lagsMs) {
          // two clocks: a message cannot have been written before it was stored
          streams.lag.observe(Math.max(0, ms) / 1000);
        }
        break;
      case "stalled":
        streams.stalled.inc();
        break;
      case "usage":
        tokens.inc({ kind: "input" }, observation.input);
        tokens.inc({ kind: "output" }, observation.output);
        break;
      case "reasoning_dropped":
        dropped.inc();
        break;
      case "append":
        database.appends.inc();
        database.bytes.inc(observation.bytes);
        break;
      case "probe":
        database.probes.inc({ result: observation.result });
        break;
      case "operation": {
        const { operation, outcome, ms } = observation;
        database.operations.observe({ operation }, ms / 1000);
        if (outcome !== "done") {
          database.refused.inc({ operation, code: outcome });
        }
      }
    }
  };
}

/** Clients may send some thirty others; each would be a separate series. */
function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST", "PATCH", "DELETE"].includes(method) ? method : "other";
}

/** All instruments, in the order in which they are listed. */
function register(prom: PromClient, registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new prom.Counter({ name, help, labelNames, registers });
  const histogram = (
    name: string,
    help: string,
    of: { buckets: number[]; labelNames?: string[] },
  ) => new prom.Histogram({ name, help, ...of, registers });
  const requests = {
    total: counter(
      "reprise_http_requests_total",
      "Requests that were answered, or whose client went away.",
      ["method", "route", "status"],
    ),
    seconds: histogram(
      "reprise_http_request_duration_seconds",
      "Time from a request's headers to the end of its answer; streams are left out.",
      { labelNames: ["method", "route"], buckets: REQUEST_SECONDS },
    ),
    unreadable: counter(
      "reprise_http_unreadable_requests_total",
      "Requests that were refused before routing: too slow, too large or no HTTP.",
      ["status"],
    ),
  };
  const streams = {
    lag: histogram(
      "reprise_stream_lag_seconds",
      "Time from storing a message, by the database's clock, to writing it to a stream that was up to date.",
      { buckets: DELIVERY_SECONDS },
    ),
    messages: counter("reprise_stream_messages_total", "Messages written to streams."),
    stalled: counter(
      "reprise_stream_stalled_total",
      "Streams that were cut because their reader took nothing.",
    ),
  };
  const tokens = counter(
    "reprise_tokens_total",
    "Tokens of the exchanges that this process ran from the queue, as providers count them.",
    ["kind"],
  );
  const dropped = counter(
    "reprise_reasoning_dropped_total",
    "Threads of exchanges from the queue whose earlier reasoning a provider refused.",
  );
  const database = {
    appends: counter(
      "reprise_appends_total",
      "Messages that were acknowledged to clients; a repeat with its key counts too.",
    ),
    bytes: counter("reprise_appended_bytes_total", "UTF-8 bytes of their content."),
    probes: counter(
      "reprise_readiness_probes_total",
      "Readiness probes, by result: ready, failed, late.",
      ["result"],
    ),
    operations: histogram(
      "reprise_database_operation_duration_seconds",
      "Time that operations on the database took, their waiting included.",
      { labelNames: ["operation"], buckets: REQUEST_SECONDS },
    ),
    refused: counter(
      "reprise_database_refusals_total",
      "Operations that were refused or failed, by error code.",
      ["operation", "code"],
    ),
  };
  return { requests, streams, database, tokens, dropped };
}
