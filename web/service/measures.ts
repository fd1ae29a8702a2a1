import { growthOf, rateOf, type Sample, valueOf } from "./samples.ts";

/** A number of the service, and what it means. */
export interface Measure {
  readonly title: string;
  readonly meaning: string;
  /** Null if it is not known: a rate needs two samples of one process. */
  readonly of: (sample: Sample, before: Sample | null) => number | null;
  readonly text: (value: number) => string;
}

const whole = (value: number): string => Math.round(value).toLocaleString("en");

const rate = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });

const milliseconds = (value: number): string => `${rate(value * 1000)} ms`;

const megabytes = (value: number): string => `${whole(value / 1_000_000)} MB`;

const count =
  (name: string, labels: Readonly<Record<string, string>> = {}) =>
  (sample: Sample): number | null =>
    valueOf(sample, name, labels);

/** The mean of a histogram between two samples. */
const meanOf =
  (name: string): Measure["of"] =>
  (sample, before) => {
    const times = growthOf(count(`${name}_count`), sample, before);
    const seconds = growthOf(count(`${name}_sum`), sample, before);
    return times === null || seconds === null || times === 0 ? null : seconds / times;
  };

const failures = (sample: Sample): number =>
  sample.series
    .filter(
      ({ name, labels }) =>
        name === "reprise_http_requests_total" && labels["status"]?.startsWith("5") === true,
    )
    .reduce((sum, { value }) => sum + value, 0);

/** What the page of the service shows, in this order. */
export const MEASURES: readonly Measure[] = [
  {
    title: "Requests",
    meaning: "Requests that were answered each second.",
    of: (...pair) => rateOf(count("reprise_http_requests_total"), ...pair),
    text: (value) => `${rate(value)} /s`,
  },
  {
    title: "Time to answer",
    meaning: "The mean of these requests; streams are left out.",
    of: meanOf("reprise_http_request_duration_seconds"),
    text: milliseconds,
  },
  {
    title: "Failed requests",
    meaning:
      "Answers with a status of 500 or more, each minute. If it is more than 0, read the log.",
    of: (...pair) => {
      const failed = rateOf(failures, ...pair);
      return failed === null ? null : failed * 60;
    },
    text: (value) => `${rate(value)} /min`,
  },
  {
    title: "Open streams",
    meaning: "Pages and clients that follow sessions now.",
    of: count("reprise_streams_open"),
    text: whole,
  },
  {
    title: "Jobs",
    meaning: "Queued exchanges that this process runs now.",
    of: count("reprise_jobs"),
    text: whole,
  },
  {
    title: "Tokens",
    meaning: "Tokens of models each minute, of the exchanges that this process ran.",
    of: (...pair) => {
      const tokens = rateOf(count("reprise_tokens_total"), ...pair);
      return tokens === null ? null : tokens * 60;
    },
    text: (value) => `${whole(value)} /min`,
  },
  {
    title: "Open questions",
    meaning: "Questions in all sessions that nobody has answered.",
    of: count("reprise_questions_open"),
    text: whole,
  },
  {
    title: "Database operations waiting",
    meaning:
      "Operations that wait for a connection. If it stays above 0, the database is the limit.",
    of: count("reprise_database_operations_waiting"),
    text: whole,
  },
  {
    title: "Delay of the event loop",
    meaning:
      "How long a request waits before it is processed. Above 100 ms, the process is overloaded.",
    of: meanOf("reprise_event_loop_lag_seconds"),
    text: milliseconds,
  },
  {
    title: "Processor",
    meaning: "Time of one processor that the process uses.",
    of: (...pair) => rateOf(count("process_cpu_seconds_total"), ...pair),
    text: (value) => `${whole(value * 100)} %`,
  },
  {
    title: "Memory",
    meaning: "Memory of the process.",
    of: count("process_resident_memory_bytes"),
    text: megabytes,
  },
];

/** How many exchanges of all processes have not ended, by state; null if the database did not say. */
export function openExchanges(sample: Sample) {
  const of = (state: string): number | null => valueOf(sample, "reprise_exchanges", { state });
  return {
    queued: of("queued"),
    running: of("running"),
    waiting: of("waiting"),
    interrupted: of("interrupted"),
    oldestSeconds: valueOf(sample, "reprise_queue_oldest_seconds"),
  };
}

/** As `2 s`, `5 min`, `3 h`, `4 d`. */
export function durationText(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
  ] as const;
  const [size, name] = units.find(([size]) => seconds >= size) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}
