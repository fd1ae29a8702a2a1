import { expect, it } from "vitest";

import { exchangeCost } from "../../helpers/exchange-cost.ts";
import { PROVIDERS } from "../../helpers/scripted-provider.ts";

it.each(PROVIDERS)(
  "[ANSWER-7] %s: receiving a tool call's arguments costs time and memory in proportion to them",
  async (provider) => {
    const characters = 20_000;
    const { parsed, peak } = await exchangeCost({
      provider,
      characters,
      as: "call",
      sampleHeap: true,
    });
    expect(parsed).toBeGreaterThanOrEqual(characters);
    expect(parsed).toBeLessThanOrEqual(4 * characters);
    // 2 MB for the rest of an exchange; `npm run torture -- arguments` has 1 MB of arguments
    expect(peak).toBeLessThanOrEqual(10 * characters + 2_000_000);
  },
  // two programs that load everything, on a machine with much else to do
  300_000,
);
