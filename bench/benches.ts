import type { Bench } from "./measurement.ts";

/**
 * The benches by name, in the order of the table; each module is loaded in its own process.
 * `usual: false` are those that take long or need PostgreSQL: they run only when they are named.
 */
export const BENCHES: Readonly<Record<string, { load: () => Promise<Bench>; usual: boolean }>> = {
  append: { load: async () => (await import("./append.ts")).bench, usual: true },
  "append-latency": {
    load: async () => (await import("./append-latency.ts")).bench,
    usual: true,
  },
  create: { load: async () => (await import("./create.ts")).bench, usual: true },
  list: { load: async () => (await import("./list.ts")).bench, usual: true },
  detail: { load: async () => (await import("./detail.ts")).bench, usual: true },
  stream: { load: async () => (await import("./stream.ts")).bench, usual: true },
  exchange: { load: async () => (await import("./exchange.ts")).bench, usual: true },
  "exchange-cpu": { load: async () => (await import("./exchange-cpu.ts")).bench, usual: true },
  "streamed-arguments": {
    load: async () => (await import("./streamed-arguments.ts")).bench,
    usual: true,
  },
  hints: { load: async () => (await import("./hints.ts")).bench, usual: false },
  million: { load: async () => (await import("./million.ts")).bench, usual: false },
  nodes: { load: async () => (await import("./nodes.ts")).bench, usual: false },
  memory: { load: async () => (await import("./memory.ts")).bench, usual: true },
  start: { load: async () => (await import("./start.ts")).bench, usual: true },
  plan: { load: async () => (await import("./plan.ts")).bench, usual: true },
};
