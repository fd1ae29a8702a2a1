import { expect, it } from "vitest";

import { exchangeCost } from "../../helpers/exchange-cost.ts";
import { testSize } from "../../helpers/size.ts";
import { PROVIDERS } from "../../helpers/scripted-provider.ts";

it.each(PROVIDERS)(
  "[ANSWER-7] %s: receiving a tool call's arguments takes time and memory in proportion to their size",
  async (provider) => {
    const characters = testSize("arguments");
    const { parsed, peak } = await exchangeCost({
      provider,
      characters,
      as: "call",
      sampleHeap: true,
    });
    expect(parsed).toBeGreaterThanOrEqual(characters);
    // the few short texts that Reprise itself parses while it stores the call are counted, too
    expect(parsed).toBeLessThanOrEqual(4 * characters + 1000);
    // 2 MB for the rest of an exchange
    expect(peak).toBeLessThanOrEqual(10 * characters + 2_000_000);
  },
);
