import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Small files with long tests: Vitest orders files by size, so it would run these last. */
const LONG = [
  "store/crash/power-loss.test.ts",
  "e2e/kill-exchange.test.ts",
  "e2e/kill-server.test.ts",
  "agent/compaction/killed.test.ts",
  "store/leases/random-stops.test.ts",
  "http/eventsource.test.ts",
  "cli/serve-silent.test.ts",
  "http/hostile.test.ts",
  "http/broken-network.test.ts",
  "http/schema-checks.test.ts",
  "cli/serve-exchanges.test.ts",
  "agent/graph/stop-asked.test.ts",
  "cli/verify-real.test.ts",
  "bench/benches.test.ts",
].map((name) => fileURLToPath(new URL(`../${name}`, import.meta.url)));

/** Begins each project with its long files, so that none of them is left to run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONG.filter((file) => !existsSync(file));
    if (gone.length > 0) {
      throw new Error(`longest-first.ts names files that do not exist: ${gone.join(", ")}`);
    }
    const sorted = await super.sort(files);
    const projects = new Set(sorted.map(({ project }) => project));
    return [...projects].flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      const isLong = ({ moduleId }: TestSpecification): boolean => LONG.includes(moduleId);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}
