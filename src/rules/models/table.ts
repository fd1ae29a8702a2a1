import { readFileSync } from "node:fs";

import { type Effort, EFFORTS } from "../../core/model-settings.ts";
import { packageFile } from "../../core/package-file.ts";
import type { PriceTier } from "./price.ts";

/** A model in the table. */
export interface TableEntry {
  /** Tokens of the request and the answer at most, as far as they cost the lower price. */
  readonly context: number;
  /** Tokens of one answer at most. */
  readonly output: number;
  readonly images: boolean;
  readonly reasoning: boolean;
  /** Those that can be asked for; empty if none can. */
  readonly efforts: readonly Effort[];
  /** By the size of the request, the smallest first; null if unknown. */
  readonly price: readonly PriceTier[] | null;
}

/** The files `models/*.json` of the package. */
export interface ModelTable {
  /** Day on which it was made. */
  readonly date: string;
  /** Its models by their names at each provider. */
  readonly models: Readonly<Record<string, Readonly<Record<string, Row>>>>;
  /** The last days of models, `2026-12-11`, by `provider:model`. */
  readonly ends: Readonly<Record<string, string>>;
}

/** As the head of `models/table.json` explains it. */
type Row = readonly [
  context: number,
  output: number,
  images: number,
  reasoning: number,
  efforts: string,
  ...tiers: Tier[],
];
type Tier = readonly [
  above: number,
  input: number,
  output: number,
  cache_read: number | null,
  cache_write_5m: number | null,
  cache_write_1h: number | null,
];

let kept: ModelTable | null = null;

/** Reads the files the first time: no start needs them. */
export function modelTable(): ModelTable {
  return (kept ??= {
    ...(readJson("models/table.json") as Pick<ModelTable, "date" | "models">),
    ends: (readJson("models/retirements.json") as { models: ModelTable["ends"] }).models,
  });
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(packageFile(path), "utf8"));
}

export function entryOf([context, output, images, reasoning, efforts, ...tiers]: Row): TableEntry {
  return {
    context,
    output,
    images: images === 1,
    reasoning: reasoning === 1,
    efforts: EFFORTS.filter((each) => efforts.split(" ").includes(each)),
    price:
      tiers.length === 0
        ? null
        : tiers.map(([above, input, output, cache_read, cache_write_5m, cache_write_1h]) => ({
            above,
            input,
            output,
            cache_read,
            cache_write_5m,
            cache_write_1h,
          })),
  };
}
