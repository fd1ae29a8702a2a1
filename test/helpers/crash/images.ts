import { rmSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { temporaryFolder } from "../temp.ts";
import type { Content } from "../content.ts";
import { type Crash, recover } from "./history.ts";
import { DAMAGES, damagedLog } from "./log.ts";

/** What each whole number of commits amounts to, from none of the log's to all of them. */
export type Prefixes = readonly Content[];

/**
 * Opens the crash with its log cut after each commit, and expects to find what had been
 * acknowledged up to there: all of it, and nothing else.
 */
export async function expectEachCommit(crash: Crash): Promise<Prefixes> {
  const prefixes: Content[] = [];
  await inPlace(async (path) => {
    for (const end of [0, ...crash.commits]) {
      const log = crash.log.subarray(0, end);
      const { content, faults } = await recover(path, { ...crash, log });
      expect({ end, faults }).toEqual({ end, faults: [] });
      prefixes.push(content);
    }
  });
  const different = prefixes.filter((content, index) => !same(content, prefixes[index - 1]));
  expect(different).toEqual(crash.acknowledged.slice(-different.length));
  return prefixes;
}

/** Opens so many damaged images and expects of each the commits in front of the damage. */
export async function expectPrefixes(input: {
  readonly crash: Crash;
  readonly prefixes: Prefixes;
  readonly images: number;
  readonly random: () => number;
}): Promise<void> {
  const { crash, prefixes, images, random } = input;
  await inPlace(async (path) => {
    for (let image = 0; image < images; image += 1) {
      const kind = DAMAGES[image % DAMAGES.length] ?? "cut";
      const { damage, log } = damagedLog(crash.log, { kind, random });
      const whole = crash.commits.filter((end) => end <= damage.at).length;

      const recovered = await recover(path, { ...crash, log });

      expect({ image, damage, ...recovered }).toEqual({
        image,
        damage,
        content: prefixes[whole],
        faults: [],
      });
    }
  });
}

function same(one: Content, other: Content | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function inPlace(work: (path: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  await work(join(folder, "reprise.db"));
  rmSync(folder, { recursive: true });
}
