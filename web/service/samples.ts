import { readMetricsText, type Series } from "./metrics-text.ts";

/** The counts of one process, all of the same time. */
export interface Sample {
  /** In milliseconds since 1970, by this browser's clock. */
  readonly at: number;
  /** Names the process: with several on one port, any of them answers. */
  readonly process: string;
  readonly series: readonly Series[];
}

/** How long samples are kept. */
export const KEPT_MS = 10 * 60_000;

export function sampleOf(text: string, at: number): Sample {
  // the parts of histograms are most of the text, and none of them is shown
  const series = readMetricsText(text).filter(({ name }) => !name.endsWith("_bucket"));
  const start = series.find(({ name }) => name === "process_start_time_seconds");
  const process = `${start?.labels["process"] ?? ""} ${start?.value ?? ""}`;
  return { at, process, series };
}

/** The samples with one more, without those that are too old. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  return [...samples.filter(({ at }) => at > sample.at - KEPT_MS && at < sample.at), sample];
}

/** The sum of the series with this name and these labels; null if there are none. */
export function valueOf(
  { series }: Sample,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const wanted = Object.entries(labels);
  const found = series.filter(
    (each) => each.name === name && wanted.every(([label, value]) => each.labels[label] === value),
  );
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}

/** The sample before this one of the same process; null if there is none. */
export function beforeOf(samples: readonly Sample[], index: number): Sample | null {
  const process = samples[index]?.process;
  return samples.slice(0, index).findLast((sample) => sample.process === process) ?? null;
}

/** How much a count grew each second between two samples; null if it is not known. */
export function rateOf(
  count: (sample: Sample) => number | null,
  sample: Sample,
  before: Sample | null,
) {
  const grown = growthOf(count, sample, before);
  return grown === null || before === null ? null : (grown * 1000) / (sample.at - before.at);
}

/** How much a count grew between two samples. A count that is not there yet is 0. */
export function growthOf(
  count: (sample: Sample) => number | null,
  sample: Sample,
  before: Sample | null,
): number | null {
  return before === null ? null : Math.max(0, (count(sample) ?? 0) - (count(before) ?? 0));
}
