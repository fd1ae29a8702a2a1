/** What a bench makes of itself; `bench/main.ts` finds it by its name and prints what it gives. */
export interface Bench {
  readonly about: string;
  /** Each bench runs in a separate process, so none finds another's memory. */
  readonly run: (options: BenchOptions) => Promise<readonly Measurement[]>;
}

export interface BenchOptions {
  /** 1 is the size that the reach is meant for; the tests run a tenth of it. */
  readonly scale: number;
}

export interface Measurement {
  /** What was measured, in words that fit a line of the table. */
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  /** What `ours` is held against, measured in the same run; null if the unit says it all. */
  readonly floor: number | null;
  /** What the line has to reach, by `ours / floor`, or by `ours` without a floor; null: for scale. */
  readonly reach: Reach | null;
  /** What a picture is drawn from, if the line belongs to one. */
  readonly point?: SaverPoint;
}

/** What a thread on a checkpoint saver has cost after so many exchanges. */
export interface SaverPoint {
  readonly saver: string;
  readonly workload: string;
  readonly exchanges: number;
  /** Of the whole thread. */
  readonly bytes: number;
  /** Milliseconds of processor time of one more exchange; null if it was not measured. */
  readonly cpu_ms: number | null;
  /** True if the saver was not measured further than this. */
  readonly stopped: boolean;
}

export type Reach = { readonly at_least: number } | { readonly at_most: number };

/** `ours / floor`, or `ours` without a floor. */
export function judged({ ours, floor }: Measurement): number {
  return floor === null ? ours : ours / floor;
}

/** Whether the line reaches its target; null without a target. */
export function reached(measurement: Measurement): boolean | null {
  const { reach } = measurement;
  if (reach === null) {
    return null;
  }
  const value = judged(measurement);
  return "at_least" in reach ? value >= reach.at_least : value <= reach.at_most;
}

/** The value that half of `values` do not exceed. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value that the given part of `values` (0 to 1) does not exceed; NaN if there are none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
