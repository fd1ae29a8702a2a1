import { readFileSync } from "node:fs";

import type { ForeignFormat } from "../../../src/artifacts/plans/import/foreign-plan.ts";
import { importPlan } from "../../../src/artifacts/plans/import/import-plan.ts";
import type { PhasePlan } from "../../../src/artifacts/plans/phase-plan.ts";

/** A plan of another tool in `test/fixtures/real-plans`. */
export interface RealPlan {
  readonly file: string;
  readonly format: ForeignFormat;
}

/** Plans; the first ones are of different tools. */
export const REAL_PLANS: readonly RealPlan[] = [
  { file: "spec-kit-mcp-server.md", format: "spec-kit" },
  { file: "kiro-github-actions-ci.md", format: "kiro" },
  { file: "taskmaster-refactoring.json", format: "taskmaster" },
  { file: "spec-kit-mock-auth.md", format: "spec-kit" },
  { file: "kiro-parity-program.md", format: "kiro" },
  { file: "kiro-watch-logs.md", format: "kiro" },
  { file: "taskmaster-keyproxy.json", format: "taskmaster" },
  { file: "taskmaster-tursi.json", format: "taskmaster" },
  { file: "spec-kit-vpn-off.md", format: "spec-kit" },
  { file: "taskmaster-skill-porter.json", format: "taskmaster" },
  { file: "spec-kit-timeout.md", format: "spec-kit" },
  { file: "taskmaster-prophy.json", format: "taskmaster" },
];

const FOLDER = new URL("../../fixtures/real-plans/", import.meta.url);

export function textOf({ file }: RealPlan): string {
  return readFileSync(new URL(file, FOLDER), "utf8");
}

export function planOf(real: RealPlan): PhasePlan {
  const { plan, problems } = importPlan(textOf(real), {
    format: real.format,
    role: "assistant",
    runId: crypto.randomUUID(),
    documents: [],
  });
  if (plan === null) {
    throw new Error(JSON.stringify(problems));
  }
  return plan;
}
