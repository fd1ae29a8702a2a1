import { Command, Option } from "commander";

import type { PhasePlan } from "../../artifacts/phase-plan.ts";
import { printLine } from "../context.ts";
import type { CliContext } from "../context.ts";
import { readPlan } from "./read-plan.ts";

const FORMATS = ["mermaid", "dot", "svg"] as const;
type Format = (typeof FORMATS)[number];

/**
 * `plan graph <file>`: the plan's phases and dependencies as a Mermaid flowchart, as a graph for
 * Graphviz, or as a picture (SVG). A plan with faults is refused with `plan_invalid`.
 */
export function graphCommand(cli: CliContext): Command {
  return new Command("graph")
    .description("draw the phases and what they depend on")
    .argument("<file>", "the plan; - for standard input")
    .addOption(
      new Option("--format <format>", "how to draw").choices([...FORMATS]).default("mermaid"),
    )
    .action(async (file: string, options: { format: Format }) => {
      printLine(cli, await draw(await readPlan(cli, file), options.format));
    });
}

async function draw(plan: PhasePlan, format: Format): Promise<string> {
  switch (format) {
    case "mermaid": {
      const { drawMermaid } = await import("../../artifacts/drawing/mermaid.ts");
      return drawMermaid(plan);
    }
    case "dot": {
      const { drawDot } = await import("../../artifacts/drawing/dot.ts");
      return drawDot(plan);
    }
    case "svg": {
      const { drawSvg } = await import("../../artifacts/drawing/svg.ts");
      return drawSvg(plan);
    }
  }
}
