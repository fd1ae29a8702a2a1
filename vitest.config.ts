import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { closingLine } from "./test/helpers/closing-line.ts";
import { failureList } from "./test/helpers/failure-list.ts";
import { LongestFirst } from "./test/helpers/longest-first.ts";
import { memoryFolder } from "./test/helpers/memory-folder.ts";
import { testLevel } from "./test/helpers/size.ts";
import { filesOfTorturesOnly } from "./test/torture/sizes.ts";

// for this process, the tests' and those that they start; no test needs what survives a power cut
process.env["TMPDIR"] ??= memoryFolder() ?? undefined;
// LangChain loads in each process of the tests: half of that time goes into compiling
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("node_modules/.cache/reprise", import.meta.url),
);
// tests allocate much: a larger young generation saves a tenth of their processor time, and a fifth
// of the time in which a program loads LangChain
process.env["NODE_OPTIONS"] ??= "--max-semi-space-size=64";

/** One file each of the saver and the agent; `.ci/run` runs all of them. */
const SOME_ON_POSTGRES = [
  "test/langgraph/mirror.test.ts",
  "test/agent/exchange/{interrupted,round-trips}.test.ts",
];

/** For `npm run torture -- postgres`. */
const ALL_ON_POSTGRES = [
  "test/agent/{exchange,graph,prune}/**/*.test.ts",
  "test/{langgraph,store/verify}/**/*.test.ts",
  "test/agent/compaction/exchange.test.ts",
  "test/client/**/*.test.ts",
  "test/conformance/state-table.test.ts",
  "test/http/**/*.test.ts",
];

export default defineConfig({
  test: {
    globalSetup: [
      "test/helpers/postgres-server.ts",
      "test/helpers/program-setup.ts",
      "test/helpers/fixture-programs.ts",
    ],
    pool: "forks",
    // no file changes what a module holds, and loading LangChain costs more than most files do
    isolate: false,
    // files wait for processes and sockets more than they compute
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", failureList(), closingLine()],
    // real processes, sockets and files: slow machines need time, and no test asserts a time
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: { NO_COLOR: "1" },
    projects: [
      {
        extends: true,
        test: {
          name: "sqlite",
          include: ["test/**/*.test.ts"],
          exclude: testLevel() === "test" ? filesOfTorturesOnly() : [],
        },
      },
      {
        // the same cases once more, on the other engine
        extends: true,
        test: {
          name: "postgres",
          include: testLevel() === "test" ? SOME_ON_POSTGRES : ALL_ON_POSTGRES,
          // these start programs with their own SQLite file, or never reach the store
          exclude: ["test/http/{hostile,broken-network,access,wire,openapi-tools}.test.ts"],
          env: { REPRISE_TEST_ENGINE: "postgres" },
        },
      },
    ],
  },
});
