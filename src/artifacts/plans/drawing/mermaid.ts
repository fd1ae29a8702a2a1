import { phaseGraph } from "../phase-graph.ts";
import type { PhasePlan } from "../phase-plan.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";

/**
 * The plan as a Mermaid flowchart, without a line break at its end.
 *
 * Error codes: `plan_invalid` as `phaseGraph`.
 */
export function drawMermaid(plan: PhasePlan): string {
  const { edges } = phaseGraph(plan);
  // a key can be a word of Mermaid's own, like `end`
  const names = new Map(plan.phases.map(({ key }, index) => [key, `p${index + 1}`]));
  const name = (key: string): string => names.get(key) ?? "";
  return [
    "flowchart LR",
    ...plan.phases.map(({ key, title, role }) => {
      const label = [`<b>${escape(title)}</b>`, escape(key), escape(role)].join("<br>");
      return `  ${name(key)}["${label}"]`;
    }),
    ...edges.map(({ from, to }) => `  ${name(from)} --> ${name(to)}`),
  ].join("\n");
}

/** Everything that Mermaid, its Markdown or a browser could act on, as a character code. */
function escape(text: string): string {
  return oneLine(text).replace(/[^\p{L}\p{N} .,()/-]/gu, (char) => `#${char.codePointAt(0) ?? 0};`);
}
