import { inOrderOf, phaseGraph } from "../phase-graph.ts";
import type { PhasePlan } from "../phase-plan.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";

/**
 * The plan as a graph for Graphviz (`dot`), a wave to a rank, without a line break at its end.
 *
 * Error codes: `plan_invalid` as `phaseGraph`.
 */
export function drawDot(plan: PhasePlan): string {
  const { waves, edges } = inOrderOf(plan, phaseGraph(plan));
  return [
    "digraph plan {",
    "  rankdir=LR;",
    '  node [shape=box, style=rounded, fontname="sans-serif"];',
    ...plan.phases.map(({ key, title, role }) => {
      const label = [title, key, role].map(escape).join("\\n");
      return `  ${name(key)} [label="${label}"];`;
    }),
    ...waves.map((wave) => `  { rank=same; ${wave.map(name).join("; ")}; }`),
    ...edges.map(({ from, to }) => `  ${name(from)} -> ${name(to)};`),
    "}",
  ].join("\n");
}

function name(key: string): string {
  return `"${escape(key)}"`;
}

function escape(text: string): string {
  return oneLine(text).replace(/["\\]/g, "\\$&");
}
