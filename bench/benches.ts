import type { Bench } from "./measurement.ts";

/**
 * The benches by name, in the order of the table; each module is loaded in its own process.
 * `byDefault: false` are slow ones and those that need PostgreSQL: they run only when they are named.
 */
export const BENCHES: Readonly<Record<string, { load: () => Promise<Bench>; byDefault: boolean }>> =
  {
    append: { load: async () => (await import("./append.ts")).bench, byDefault: true },
    "append-latency": {
      load: async () => (await import("./append-latency.ts")).bench,
      byDefault: true,
    },
    create: { load: async () => (await import("./create.ts")).bench, byDefault: true },
    list: { load: async () => (await import("./list.ts")).bench, byDefault: true },
    detail: { load: async () => (await import("./detail.ts")).bench, byDefault: true },
    stream: { load: async () => (await import("./stream.ts")).bench, byDefault: true },
    live: { load: async () => (await import("./live.ts")).bench, byDefault: false },
    exchange: { load: async () => (await import("./exchange.ts")).bench, byDefault: true },
    "exchange-cpu": {
      load: async () => (await import("./exchange-cpu.ts")).bench,
      byDefault: true,
    },
    "saver-cpu": {
      load: async () => (await import("./saver-cpu.ts")).bench,
      byDefault: true,
    },
    "streamed-arguments": {
      load: async () => (await import("./streamed-arguments.ts")).bench,
      byDefault: true,
    },
    queue: { load: async () => (await import("./queue.ts")).bench, byDefault: true },
    hints: { load: async () => (await import("./hints.ts")).bench, byDefault: false },
    "list-filters": {
      load: async () => (await import("./list-filters.ts")).bench,
      byDefault: false,
    },
    million: { load: async () => (await import("./million.ts")).bench, byDefault: false },
    "ten-millions": {
      load: async () => (await import("./million.ts")).tenMillions,
      byDefault: false,
    },
    nodes: { load: async () => (await import("./nodes.ts")).bench, byDefault: false },
    fork: { load: async () => (await import("./fork.ts")).bench, byDefault: false },
    search: { load: async () => (await import("./search.ts")).bench, byDefault: false },
    savers: { load: async () => (await import("./savers.ts")).bench, byDefault: false },
    terminal: { load: async () => (await import("./terminal.ts")).bench, byDefault: false },
    web: { load: async () => (await import("./web.ts")).bench, byDefault: false },
    memory: { load: async () => (await import("./memory.ts")).bench, byDefault: true },
    start: { load: async () => (await import("./start.ts")).bench, byDefault: true },
    "plan-run": { load: async () => (await import("./plan-run.ts")).bench, byDefault: true },
    plan: { load: async () => (await import("./plan.ts")).bench, byDefault: true },
  };
