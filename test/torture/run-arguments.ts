import assert from "node:assert/strict";

import { exchangeCost } from "../helpers/exchange-cost.ts";
import { PROVIDERS } from "../helpers/scripted-provider.ts";
import type { TortureOptions } from "./main.ts";

/** A tool call with 1 MB of arguments, in pieces of 4 characters: what is parsed, and the memory. */
export async function run({ size = 1_000_000 }: TortureOptions): Promise<void> {
  for (const provider of PROVIDERS) {
    const cost = await exchangeCost({ provider, characters: size, as: "call", sampleHeap: true });
    const parsed = cost.parsed / size;
    const peak = cost.peak / size;
    console.log(
      `arguments: ${provider} parsed ${parsed.toFixed(2)} characters and held ${peak.toFixed(1)} bytes for each`,
    );
    assert.ok(parsed <= 4 && peak <= 10);
  }
}
