import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Small files with long tests, the longest first: Vitest orders files by size, so it would run these last. */
const LONG = [
  "torture/plan-nodes.test.ts",
  "torture/frozen-nodes.test.ts",
  "http/openapi-tools.test.ts",
  "e2e/document-blocks.test.ts",
  "mcp-serve/stdio.test.ts",
  "e2e/package.test.ts",
  "http/unsent/in-turn.test.ts",
  "agent/hooks/killed.test.ts",
  "web/browser/acting.test.ts",
  "web/browser/everybody.test.ts",
  "web/browser/streams.test.ts",
  "bench/benches.test.ts",
  "cli/terminal/ask.test.ts",
  "torture/plan-kills.test.ts",
  "torture/exchanges.test.ts",
  "torture/live-cuts.test.ts",
  "torture/exchanges-patched.test.ts",
  "agent/plans/killed.test.ts",
  "store/postgres/failover.test.ts",
  "agent/graph/killed.test.ts",
  "web/browser/session.test.ts",
  "web/browser/questions.test.ts",
  "agent/sandbox/escapes.test.ts",
  "agent/mcp/held.test.ts",
  "agent/prefix/prices.test.ts",
  "web/browser/pictures.test.ts",
  "web/browser/runs.test.ts",
  "web/browser/list.test.ts",
  "web/browser/plans.test.ts",
  "web/browser/forks.test.ts",
  "web/browser/server-questions.test.ts",
  "web/browser/phone.test.ts",
  "http/wire.test.ts",
  "cli/without-agent.test.ts",
  "cli/hostile-fields.test.ts",
  "agent/mcp/questions.test.ts",
  "agent/exchange/permissions.test.ts",
  "agent/tools/control-files.test.ts",
  "acp/editor.test.ts",
  "agent/plans/artifacts.test.ts",
  "agent/hooks/exchange-hooks.test.ts",
  "store/postgres/restarts.test.ts",
  "torture/notified.test.ts",
  "agent/prefix/killed-lives.test.ts",
  "store/forks/killed.test.ts",
  "store/forks/random.test.ts",
  "store/records/search/killed.test.ts",
  "agent/exchange/judged.test.ts",
  "conformance/state-table.test.ts",
  "langgraph/foreign/programs.test.ts",
  "client/browser.test.ts",
  "cli/terminal/long-thought.test.ts",
  "cli/terminal/screen/renderer.test.ts",
  "cli/terminal/ask-window.test.ts",
  "store/postgres/services.test.ts",
  "cli/postgres.test.ts",
  "cli/stored-then-lost.test.ts",
  "http/away.test.ts",
  "http/body-budget.test.ts",
  "e2e/demo-plan.test.ts",
  "cli/when-limited.test.ts",
  "cli/follow-reasoning.test.ts",
  "cli/endless.test.ts",
  "store/crash/power-loss.test.ts",
  "e2e/kill-exchange.test.ts",
  "e2e/kill-server.test.ts",
  "agent/compaction/killed.test.ts",
  "store/records/leases/random-stops.test.ts",
  "http/eventsource.test.ts",
  "cli/serve-silent.test.ts",
  "http/hostile.test.ts",
  "http/broken-network.test.ts",
  "http/schema-checks.test.ts",
  "cli/serve-exchanges.test.ts",
  "agent/graph/stop-asked.test.ts",
  "cli/verify-real.test.ts",
  "cli/agent-ends.test.ts",
  "cli/serve-npm.test.ts",
  "store/postgres/polling.test.ts",
  "torture/agent-nodes.test.ts",
  "agent/models/streamed-arguments.test.ts",
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
      const long = LONG.flatMap((name) => own.filter(({ moduleId }) => moduleId === name));
      return [...long, ...own.filter((file) => !long.includes(file))];
    });
  }
}
