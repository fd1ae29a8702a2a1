import { oneLine } from "../../../core/text/terminal-text.ts";
import type { RunDetail, RunPhase, RunSummary } from "../../../core/schemas/plan-run-schemas.ts";
import { aligned } from "../../output/aligned.ts";

/** Lines of a run with each of its phases. */
export function runLines(run: RunDetail): string[] {
  const rows = run.phases.map((phase) => [
    `  ${oneLine(phase.key)}`,
    phase.shown,
    phaseText(phase),
    phase.session_id ?? "",
  ]);
  return [`${summaryLine(run)}, plan ${run.run_id}`, ...aligned(rows)];
}

/** Returns the line for a change of a phase. */
export function phaseLine(phase: RunPhase): string {
  return `${oneLine(phase.key)}: ${phase.shown}, ${phaseText(phase)}`;
}

/** Returns the line for a run in a list. */
export function summaryLine(run: RunSummary): string {
  const asking = run.asking.length === 0 ? "" : `, asks in ${run.asking.map(oneLine).join(", ")}`;
  const times = run.number === 1 ? "" : `, number ${run.number}`;
  return `${run.session_id}: ${run.state}, ${run.phases_done} of ${run.phases_total} phases done${asking}${times}`;
}

function phaseText({ title, role, attempt, error, shown }: RunPhase): string {
  const tried = attempt === 1 ? "" : `, attempt ${attempt}`;
  const why = error === null || shown === "done" ? "" : `: ${oneLine(error.sentence)}`;
  return `${oneLine(title)} (${oneLine(role)}${tried})${why}`;
}
