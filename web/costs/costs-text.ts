import type { StatInfo } from "../../src/entries/client.ts";

export const BY = [
  { value: "day", text: "Day" },
  { value: "session", text: "Session" },
  { value: "folder", text: "Folder" },
  { value: "model", text: "Model" },
] as const;
export type By = (typeof BY)[number]["value"];

/** Times that can be chosen: days before now. */
export const SINCE = [
  { value: "", text: "ever" },
  { value: "7", text: "7 days ago" },
  { value: "30", text: "30 days ago" },
  { value: "365", text: "a year ago" },
] as const;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The filter of one of these times; none for another word. */
export function sinceOf(value: string, now: Date): { readonly since?: string } {
  const isKnown = value !== "" && SINCE.some((choice) => choice.value === value);
  return isKnown ? { since: new Date(now.getTime() - Number(value) * DAY_MS).toISOString() } : {};
}

const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function countText(count: number | null): string {
  return count === null ? "–" : COUNT.format(count);
}

/** `unknown` is how many requests have no known price. */
export function dollarsText(micros: number | null, unknown: number): string {
  if (micros === null) {
    return "unknown";
  }
  const dollars = micros / 1_000_000;
  const digits = dollars !== 0 && dollars < 0.1 ? 4 : 2;
  return `${unknown > 0 ? "at least " : ""}$${dollars.toFixed(digits)}`;
}

type Sums = Omit<StatInfo, "key" | "title">;

export function totalOf(stats: readonly StatInfo[]): Sums {
  const sum = (field: "input" | "cached" | "output" | "cost_micros"): number | null => {
    const known = stats.flatMap((stat) => stat[field] ?? []);
    return known.length === 0 ? null : known.reduce((total, each) => total + each, 0);
  };
  const count = (field: "calls" | "unknown_calls"): number =>
    stats.reduce((total, stat) => total + stat[field], 0);
  return {
    calls: count("calls"),
    input: sum("input"),
    cached: sum("cached"),
    output: sum("output"),
    cost_micros: sum("cost_micros"),
    unknown_calls: count("unknown_calls"),
  };
}
