import { describe, expect, it } from "vitest";

import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { crashAfter } from "../../helpers/crash/history.ts";
import { expectEachCommit, expectPrefixes } from "../../helpers/crash/images.ts";

/** Damaged logs that are opened; see `npm run torture`. */
const IMAGES = testSize("power-loss");

describe("a database whose power was cut", () => {
  it.each([
    // few enough steps for less than the 1,000 pages at which SQLite writes a log back by itself
    { where: "in the first round of its log", checkpoint: false, steps: 20 },
    { where: "after its log had been written back and restarted", checkpoint: true, steps: 30 },
  ])(
    "[STORE-31] has what was acknowledged before the damage and nothing else, $where",
    async ({ checkpoint, steps }) => {
      const random = seededRandom("power-loss");
      const crash = await crashAfter({ seed: random() * 2 ** 32, steps, checkpoint });

      const prefixes = await expectEachCommit(crash);

      expect(prefixes.length).toBeGreaterThan(10);
      await expectPrefixes({ crash, prefixes, images: IMAGES, random });
    },
  );
});
