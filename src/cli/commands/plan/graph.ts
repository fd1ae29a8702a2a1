import { Command, Option } from "commander";

import type { PhasePlan } from "../../../artifacts/plans/phase-plan.ts";
import { noticeLine, printLine, type CliContext } from "../../process/context.ts";
import { readPlan } from "./read-plan.ts";

const DRAWINGS = {
  mermaid: async () => (await import("../../../artifacts/plans/drawing/mermaid.ts")).drawMermaid,
  dot: async () => (await import("../../../artifacts/plans/drawing/dot.ts")).drawDot,
  svg: async () => (await import("../../../artifacts/plans/drawing/svg.ts")).drawSvg,
};

/**
 * `plan graph <file>`: the plan's phases and dependencies as a Mermaid flowchart, as a graph for
 * Graphviz, or as a picture (SVG). A plan with errors is refused with `plan_invalid`.
 */
export function graphCommand(cli: CliContext): Command {
  return new Command("graph")
    .description("draw the phases and what they depend on")
    .argument("<file>", "the plan; - for standard input")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(Object.keys(DRAWINGS))
        .default("mermaid"),
    )
    .action(async (file: string, options: { format: keyof typeof DRAWINGS }) => {
      const plan = await readPlan(cli, file);
      if (options.format === "mermaid") {
        await warnOfEdges(cli, plan);
      }
      const draw = await DRAWINGS[options.format]();
      printLine(cli, draw(plan));
    });
}

/** Mermaid draws no text with more edges than this, unless its `maxEdges` is raised. */
const MAX_MERMAID_EDGES = 500;

async function warnOfEdges(cli: CliContext, plan: PhasePlan): Promise<void> {
  const { phaseGraph } = await import("../../../artifacts/plans/phase-graph.ts");
  const { edges } = phaseGraph(plan);
  if (edges.length > MAX_MERMAID_EDGES) {
    noticeLine(
      cli,
      `warning: the text has ${edges.length} edges, and Mermaid draws ${MAX_MERMAID_EDGES} at most; raise its maxEdges, or use --format svg [too_many_edges]`,
    );
  }
}
