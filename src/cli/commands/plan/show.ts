import { oneLine } from "../../../core/text/terminal-text.ts";
import { Command } from "commander";

import type { PhaseGraph } from "../../../artifacts/plans/phase-graph.ts";
import type { Phase, PhasePlan } from "../../../artifacts/plans/phase-plan.ts";
import { printJson, printLines, type CliContext } from "../../process/context.ts";
import { aligned } from "../../output/aligned.ts";
import { plural } from "../../../core/text/text.ts";
import { readPlan } from "./read-plan.ts";

/**
 * `plan show <file>`: the waves whose phases can run in parallel, the longest chain, the hours if
 * they are given, and the expected artifacts. `--json` prints one document: `runId, phaseKey,
 * estimated_duration_hours` (null if none is given), `phases` (how many), `waves, longest_chain,
 * artifacts` (`phase, path, schema`). A plan with errors is refused: `plan_invalid`.
 */
export function showCommand(cli: CliContext): Command {
  return new Command("show")
    .description("show which phases can run in parallel, and the longest chain")
    .argument("<file>", "the plan; - for standard input")
    .option("--json", "print one JSON document, for programs")
    .action(async (file: string, options: { json?: true }) => {
      const plan = await readPlan(cli, file);
      const { inOrderOf, phaseGraph } = await import("../../../artifacts/plans/phase-graph.ts");
      const graph = phaseGraph(plan);
      if (options.json === true) {
        printJson(cli, documentOf(plan, graph), 2);
      } else {
        printLines(cli, planLines(plan, inOrderOf(plan, graph)));
      }
    });
}

function documentOf(plan: PhasePlan, { waves, longestChain }: PhaseGraph): object {
  return {
    runId: plan.runId,
    phaseKey: plan.phaseKey,
    estimated_duration_hours: plan.estimated_duration_hours ?? null,
    phases: plan.phases.length,
    waves,
    longest_chain: longestChain,
    artifacts: artifactsOf(plan),
  };
}

function artifactsOf({ phases }: PhasePlan) {
  return phases.flatMap(({ key, expected_artifact: artifact }) =>
    artifact === undefined ? [] : [{ phase: key, ...artifact }],
  );
}

function planLines(plan: PhasePlan, graph: PhaseGraph): string[] {
  const row = ({ key, role, title }: Phase): string[] => [key, role, title].map(oneLine);
  const rows = new Map(plan.phases.map((phase) => [phase.key, row(phase)]));
  const waves = graph.waves.map((wave) => wave.map((key) => rows.get(key) ?? []));
  const artifacts = artifactsOf(plan).map((artifact) =>
    [artifact.path, artifact.schema, artifact.phase].map(oneLine),
  );
  return [
    headline(plan, graph),
    `run ${plan.runId}, ${oneLine(plan.phaseKey)}`,
    ...waveLines(waves),
    ...chainLines(graph.longestChain),
    ...(artifacts.length > 0 ? ["", "Artifacts", ...indented(artifacts)] : []),
  ];
}

function waveLines(waves: readonly string[][][]): string[] {
  const all = waves.flat();
  return waves.flatMap((rows, index) => {
    const many = rows.length === 1 ? "" : `, ${rows.length} in parallel`;
    return ["", `Wave ${index + 1}${many}`, ...indented(rows, all)];
  });
}

function chainLines(chain: readonly string[]): string[] {
  if (chain.length < 2) {
    return [];
  }
  return ["", `Longest chain, ${plural(chain.length, "phase")}`, ...arrowLines(chain)];
}

/** Columns of a line of the longest chain. */
const MAX_COLUMNS = 80;
const ARROW = " ->";

function arrowLines(chain: readonly string[]): string[] {
  const lines: string[] = [];
  let line = "";
  for (const [at, key] of chain.entries()) {
    const step = ` ${key}${at === chain.length - 1 ? "" : ARROW}`;
    if (line !== "" && line.length + step.length > MAX_COLUMNS) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? ` ${step}` : step;
  }
  return [...lines, line];
}

function headline(
  { phases, estimated_duration_hours: hours }: PhasePlan,
  graph: PhaseGraph,
): string {
  const waves = `${plural(phases.length, "phase")} in ${plural(graph.waves.length, "wave")}`;
  return hours === undefined ? waves : `${waves}, ${hours} ${hours === 1 ? "hour" : "hours"}`;
}

/** Width of a name: a very long one does not push everything else out of sight. */
const MAX_WIDTH = 40;

function indented(rows: readonly string[][], among = rows): string[] {
  return aligned(rows, { among, maxWidth: MAX_WIDTH }).map((line) => `  ${line}`);
}
