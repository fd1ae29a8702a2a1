import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { closingLine } from "./test/helpers/closing-line.ts";
import { failureList } from "./test/helpers/failure-list.ts";
import { LongestFirst } from "./test/helpers/longest-first.ts";
import { memoryFolder } from "./test/helpers/memory-folder.ts";
import { testLevel } from "./test/helpers/size.ts";
import { skippedList } from "./test/helpers/skipped-list.ts";
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

/**
 * For `npm run torture -- postgres`, not for `npm test`: what an engine can make different. Tests of the store itself
 * use both engines in any run, except the longest, which are here; what else asks a store is here if it depends on when
 * other connections see a change (leases, queues, streams, processes that die), or on which values come back, in which
 * order and in how many statements.
 */
const ON_POSTGRES = [
  "test/langgraph/!(json-value|message-json|revived).test.ts",
  "test/langgraph/threads/*.test.ts",
  "test/langgraph/foreign/{graphs,killed,programs}.test.ts",
  "test/langgraph/messages/chunks.test.ts",
  "test/compat/histories/{continued,turns}.test.ts",
  "test/compat/langgraph/{copying,two-copies}.test.ts",
  "test/agent/exchange/{beginning,begun,changed-files-killed,failed,interrupted,late-writes,live,lost-database}.test.ts",
  "test/agent/exchange/{model-calls,outputs,questions,questions-killed,record,round-trips,stopped,waiting}.test.ts",
  "test/agent/compaction/{kept-tasks,long-thread}.test.ts",
  "test/agent/graph/{interrupted,kept-input,killed,run}.test.ts",
  "test/agent/hooks/taken-sessions.test.ts",
  "test/agent/prefix/{killed-lives,lives,moved,prefix}.test.ts",
  "test/agent/mcp/random-lives.test.ts",
  "test/agent/plans/!(artifacts|checks|imported).test.ts",
  "test/agent/prune/prune.test.ts",
  "test/cli/{elsewhere,commands/chat/follow}.test.ts",
  "test/cli/terminal/questions/ask-on-screen.test.ts",
  "test/exchange/{answer-due,conversation,nodes}.test.ts",
  "test/exchange/live/{dead-process,feed}.test.ts",
  "test/library/sessions.test.ts",
  "test/store/forks/{fork-session,killed}.test.ts",
  "test/store/portable/{earlier-builds,round-trip,sync,sync-killed,sync-random,taken-threads}.test.ts",
  "test/store/records/{exchanges/attempts,search/killed,search/search}.test.ts",
  "test/store/records/sessions/list-filters.test.ts",
  "test/store/verify/{damages,random,repair,runs,verify}.test.ts",
  "test/conformance/state-table.test.ts",
  "test/http/{events,live}/*.test.ts",
  "test/http/{changes,delete-session,deleted-meanwhile,exchanges,export-session,hostile-queue}.test.ts",
  "test/http/{list-filters,list-messages,list-reasoning,messages,metrics,patch-session}.test.ts",
  "test/http/page/{ends,shares}.test.ts",
  "test/http/{questions,queue,readiness,service,sessions}.test.ts",
  "test/http/{stream,stream-deleted,stream-end,stream-pages}.test.ts",
];

export default defineConfig({
  test: {
    globalSetup: [
      "test/helpers/postgres-server.ts",
      "test/helpers/program-setup.ts",
      "test/helpers/page-setup.ts",
      "test/helpers/fixture-programs.ts",
    ],
    pool: "forks",
    // no file changes what a module holds, and loading LangChain costs more than most files do
    isolate: false,
    // no test replaces a module: Node.js loads and keeps compiled what Vite would read and transform in each worker
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // files also wait for processes and sockets; each worker loads all of LangChain and compiles it again
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", failureList(), skippedList(), closingLine()],
    // real processes, sockets and files: slow machines need time, and no test asserts a time
    expect: { poll: { timeout: 240_000 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: { NO_COLOR: "1" },
    projects: [
      {
        extends: true,
        test: {
          name: "sqlite",
          include: ["test/**/*.test.ts"],
          exclude: [
            // packages that a test of the short tortures installs have tests, too
            "**/node_modules/**",
            ...(testLevel() === "test" ? filesOfTorturesOnly() : []),
          ],
        },
      },
      {
        // the same cases once more, on the other engine
        extends: true,
        test: {
          name: "postgres",
          include: ON_POSTGRES,
          env: { REPRISE_TEST_ENGINE: "postgres" },
        },
      },
    ],
  },
});
