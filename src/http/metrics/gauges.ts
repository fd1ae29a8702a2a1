import type { Server } from "node:http";
import { performance } from "node:perf_hooks";
import { cpuUsage, memoryUsage } from "node:process";
import { promisify } from "node:util";

import type { Registry } from "prom-client";

import { RepriseError } from "../../core/errors.ts";
import { SCRAPE_FRESH_MS, SCRAPE_TIMEOUT_MS } from "../../core/limits.ts";
import { countQueue, type QueueLength } from "../../store/records/exchanges/count-queue.ts";
import {
  countOpenExchanges,
  type OpenExchanges,
} from "../../store/records/exchanges/open-exchanges.ts";
import { countOpenQuestions } from "../../store/records/questions/read.ts";
import type { Store } from "../../store/store.ts";
import { singleFlight } from "./single-flight.ts";
import type { Streams } from "../stream/streams.ts";
import type { PromClient } from "./instruments.ts";
import type { Jobs } from "../observation.ts";

/** Values that are read on each scrape, instead of being counted. */
export interface Gauges {
  readonly store: Store;
  readonly streams: Pick<Streams, "open" | "watched">;
  readonly live: Pick<Streams, "open">;
  readonly events: Pick<Streams, "open">;
  readonly server: Server;
  readonly version: string;
  readonly process?: number | undefined;
  readonly jobs?: (() => Jobs) | undefined;
}

/** Counts of what all processes on the database do, and of what waits. */
interface Waiting extends OpenExchanges, QueueLength {
  readonly questions: number;
}

/** Makes one gauge; `read` gives its values on each scrape, none if it cannot. */
type AddGauge = (gauge: {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly read: (set: (value: number, label?: string) => void) => void | Promise<void>;
}) => void;

/** Registers the gauges. If the database does not respond, its gauges have no value. */
export function createGauges(prom: PromClient, registry: Registry, gauged: Gauges): void {
  const add: AddGauge = ({ name, help, label, read }) => {
    const gauge = new prom.Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect: async () => {
        gauge.reset();
        await read((value, of) =>
          label === undefined || of === undefined
            ? gauge.set(value)
            : gauge.set({ [label]: of }, value),
        );
      },
    });
  };
  addServiceGauges(add, gauged);
  if (gauged.jobs !== undefined) {
    addJobGauges(add, gauged.jobs);
  }
  addDatabaseGauges(add, gauged.store);
  addProcessGauges(add);
  countProcessor(prom, registry);
}

function addServiceGauges(add: AddGauge, { streams, live, events, server, version }: Gauges): void {
  add({
    name: "reprise_build_info",
    help: "1, with the version of the program.",
    label: "version",
    read: (set) => set(1, version),
  });
  add({
    name: "reprise_streams_open",
    help: "Streams that are open, of messages, of the live feed and of all sessions' events.",
    read: (set) => set(streams.open + live.open + events.open),
  });
  add({
    name: "reprise_sessions_watched",
    help: "Sessions that are watched for open streams.",
    read: (set) => set(streams.watched),
  });
  add({
    name: "reprise_http_connections_open",
    help: "Connections of clients, idle ones included.",
    read: async (set) => set(await promisify(server.getConnections.bind(server))()),
  });
}

function addDatabaseGauges(add: AddGauge, store: Store): void {
  add({
    name: "reprise_database_connections",
    help: "This process's connections for operations: busy or idle.",
    label: "state",
    read: (set) => {
      const { connections, idle } = store.load();
      set(connections - idle, "busy");
      set(idle, "idle");
    },
  });
  add({
    name: "reprise_database_connections_max",
    help: "How many of them there may be.",
    read: (set) => set(store.load().max),
  });
  add({
    name: "reprise_database_operations_waiting",
    help: "Operations that wait for a connection or for their turn.",
    read: (set) => set(store.load().waiting),
  });
  const count = singleFlight<Waiting>({
    work: () =>
      store.read(
        async (tx) => ({
          ...(await countOpenExchanges(tx, null)),
          ...(await countQueue(tx, null)),
          questions: await countOpenQuestions(tx, null),
        }),
        null,
      ),
    ttlMs: SCRAPE_FRESH_MS,
    timeoutMs: SCRAPE_TIMEOUT_MS,
    timeoutError: () =>
      new RepriseError("database_unavailable", "The database did not answer in time. Try again."),
  });
  add({
    name: "reprise_exchanges",
    help: "Exchanges of all processes on this database that have not ended: queued, running, waiting for a person, or interrupted and not continued.",
    label: "state",
    read: async (set) => {
      const open = await count().catch(() => null);
      if (open !== null) {
        set(open.running, "running");
        set(open.waiting, "waiting");
        set(Math.max(0, open.left - open.waiting), "interrupted");
        set(open.queued, "queued");
      }
    },
  });
  const addOfWaiting = (name: string, help: string, valueOf: (waiting: Waiting) => number): void =>
    add({
      name,
      help,
      read: async (set) => {
        const waiting = await count().catch(() => null);
        if (waiting !== null) {
          set(valueOf(waiting));
        }
      },
    });
  addOfWaiting(
    "reprise_queue_oldest_seconds",
    "For how long the exchange that was queued first has waited; 0 if none is queued.",
    ({ oldest_ms }) => oldest_ms / 1000,
  );
  addOfWaiting(
    "reprise_queue_attempts",
    "Processes that died with exchanges that have not ended.",
    ({ attempts }) => attempts,
  );
  addOfWaiting(
    "reprise_questions_open",
    "Questions of tools and agents that nobody has answered.",
    ({ questions }) => questions,
  );
}

function addJobGauges(add: AddGauge, jobs: NonNullable<Gauges["jobs"]>): void {
  add({
    name: "reprise_jobs",
    help: "Queued exchanges that this process runs now.",
    read: (set) => set(jobs().running),
  });
  add({
    name: "reprise_jobs_max",
    help: "How many of them it may run at once (--jobs).",
    read: (set) => set(jobs().max),
  });
}

/** Under the names that dashboards for Node.js know. */
function addProcessGauges(add: AddGauge): void {
  add({
    name: "process_start_time_seconds",
    help: "When the process started, in seconds since 1970.",
    read: (set) => set(performance.timeOrigin / 1000),
  });
  add({
    name: "process_resident_memory_bytes",
    help: "Memory of the process.",
    read: (set) => set(memoryUsage.rss()),
  });
  add({
    name: "nodejs_heap_size_used_bytes",
    help: "What JavaScript's objects take of it.",
    read: (set) => set(memoryUsage().heapUsed),
  });
  add({
    name: "nodejs_external_memory_bytes",
    help: "What buffers and the like take outside of the heap.",
    read: (set) => set(memoryUsage().external),
  });
}

function countProcessor(prom: PromClient, registry: Registry): void {
  const seconds = new prom.Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of the process.",
    registers: [registry],
    collect: () => {
      const { user, system } = cpuUsage();
      seconds.reset();
      seconds.inc((user + system) / 1_000_000);
    },
  });
}
