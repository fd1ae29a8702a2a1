import type { PhasePlan } from "../../../artifacts/plans/phase-plan.ts";
import { RepriseError } from "../../../core/errors.ts";
import { MAX_FAULTS } from "../../../core/limits.ts";
import { noticeLine, type CliContext } from "../../process/context.ts";
import { createPlanChecker, type PlanChecker } from "./checks.ts";

/**
 * Reads a valid plan from a file, or from standard input if it is `-`; warnings go to
 * standard error.
 *
 * Error codes: `plan_invalid` with the first errors; `schema_invalid`, `file_unreadable`.
 */
export async function readPlan(
  cli: CliContext,
  file: string,
  given?: PlanChecker,
): Promise<PhasePlan> {
  const { plan, findings } = await (given ?? (await createPlanChecker(cli))).check(file);
  const { findingLine } = await import("./findings.ts");
  if (plan === null) {
    const unreadable = findings.find(({ code }) => code === "file_unreadable");
    if (unreadable) {
      throw new RepriseError("file_unreadable", `The plan cannot be read: ${unreadable.message}.`);
    }
    const faults = findings
      .filter(({ severity }) => severity === "error")
      .slice(0, MAX_FAULTS)
      .map((finding) => ({ pointer: finding.pointer, message: findingLine(finding) }));
    const message = "This is not a valid phase plan; `reprise plan validate` lists all errors.";
    throw new RepriseError("plan_invalid", message, { faults });
  }
  for (const finding of findings) {
    noticeLine(cli, findingLine(finding));
  }
  return plan;
}
