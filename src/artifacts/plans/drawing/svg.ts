import { inOrderOf, phaseGraph, type PhaseGraph } from "../phase-graph.ts";
import type { Phase, PhasePlan } from "../phase-plan.ts";
import type { PlanBox } from "../../../core/schemas/artifact-schemas.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { HEAD, layOut, type Layout, type Line } from "./layout.ts";
import { BOX_HEIGHT, type Box, type Point } from "./sizes.ts";
import { cutOnTwoLines, fitted, onTwoLines, widthOf, xml } from "./text.ts";

const MARGIN = 24;
const PADDING = 14;
const MIN_BOX_WIDTH = 120;
const MAX_BOX_WIDTH = 250;
/** Below the boxes, for the caption. */
const FOOT = 36;
/** Pixels of a letter in a title, and in a key or role. */
const TITLE_LETTER = 8;
const SMALL_LETTER = 7;
/** Pixels between a key and its role. */
const ROLE_GAP = 10;
/** Letters of a title's line that is not broken. */
const TITLE_WIDTH = 22;
/** Below it a picture is too narrow for its own caption. */
const MIN_WIDTH = 420;

/**
 * The plan as a picture (SVG 1.1, no scripts, no fonts, nothing loaded): waves as
 * columns, the longest chain drawn stronger, light or dark as the reader's screen. Its description
 * says in words what it shows. No line break at its end.
 *
 * Error codes: `plan_invalid` as `phaseGraph`.
 */
export function drawSvg(plan: PhasePlan): string {
  return drawPicture(plan).picture;
}

/** As `drawSvg`, with the boxes of the phases in it. */
export function drawPicture(plan: PhasePlan): {
  readonly picture: string;
  readonly boxes: readonly PlanBox[];
} {
  const graph = inOrderOf(plan, phaseGraph(plan));
  const phases = new Map(plan.phases.map((phase) => [phase.key, phase]));
  const layout = layOut(graph, (key) => boxWidth(phases.get(key)));
  const width = Math.ceil(Math.max(MIN_WIDTH, layout.width + 2 * MARGIN));
  const height = Math.ceil(layout.height + 2 * MARGIN + HEAD + FOOT);
  const chain = new Set(graph.longestChain.length > 1 ? graph.longestChain : []);
  const links = new Set(
    graph.longestChain.slice(1).map((to, at) => `${graph.longestChain[at]} ${to}`),
  );
  const { strong = [], weak = [] } = Object.groupBy(layout.lines, ({ from, to }) =>
    links.has(`${from} ${to}`) ? "strong" : "weak",
  );
  const picture = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="plan-title plan-desc">`,
    `<title id="plan-title">${xml(caption(plan, graph))}</title>`,
    `<desc id="plan-desc">${xml(description(graph))}</desc>`,
    STYLE,
    '<defs><marker id="plan-arrow" class="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>',
    '<marker id="plan-arrow-strong" class="arrow strong" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>',
    '<rect class="ground" width="100%" height="100%"/>',
    `<g transform="translate(${MARGIN} ${MARGIN + HEAD})">`,
    ...waveNames(layout),
    ...weak.map((line) => edge(line, false)),
    // over the others, with which they may share a lane
    ...strong.map((line) => edge(line, true)),
    ...layout.boxes.map((box) =>
      node(box, { phase: phases.get(box.key), strong: chain.has(box.key) }),
    ),
    `<text y="${round(layout.height + FOOT)}">${xml(footer(plan, graph))}</text>`,
    "</g>",
    "</svg>",
  ].join("\n");
  const boxes = layout.boxes.map(({ key, x, y, width: wide }): PlanBox => ({
    key,
    x: round(x + MARGIN),
    y: round(y + MARGIN + HEAD),
    width: wide,
    height: BOX_HEIGHT,
  }));
  return { picture, boxes };
}

const STYLE = `<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #59636e }
.title { font-weight: 600; font-size: 13px; fill: #1f2328 }
.key { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 11px }
.wave { font-size: 11px; letter-spacing: .06em }
.ground { fill: #ffffff }
.box { fill: #f6f8fa; stroke: #8c959f }
.edge { fill: none; stroke: #8c959f; stroke-width: 1.25 }
.box.strong { stroke: #0969da; stroke-width: 2 }
.edge.strong { stroke: #0969da; stroke-width: 2 }
.arrow path { fill: #8c959f }
.arrow.strong path { fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.title { fill: #f0f6fc }
.ground { fill: #0d1117 }
.box { fill: #161b22; stroke: #6e7681 }
.edge { stroke: #6e7681 }
.box.strong { stroke: #4493f8 }
.edge.strong { stroke: #4493f8 }
.arrow path { fill: #6e7681 }
.arrow.strong path { fill: #4493f8 }
}
</style>`;

function boxWidth(phase: Phase | undefined): number {
  const { title = "", key = "", role = "" } = phase ?? {};
  const small = SMALL_LETTER * widthOf(oneLine(key + role)) + ROLE_GAP;
  const lines = onTwoLines(oneLine(title), TITLE_WIDTH);
  const text = Math.max(...lines.map((line) => TITLE_LETTER * widthOf(line)), small);
  return Math.ceil(Math.min(MAX_BOX_WIDTH, Math.max(MIN_BOX_WIDTH, text + 2 * PADDING)));
}

function caption(
  { phases, estimated_duration_hours: hours }: PhasePlan,
  graph: PhaseGraph,
): string {
  const count = (number: number, thing: string): string =>
    `${number} ${thing}${number === 1 ? "" : "s"}`;
  const size = `${count(phases.length, "phase")} in ${count(graph.waves.length, "wave")}`;
  return `Phase plan: ${size}${hours === undefined ? "" : `, ${count(hours, "hour")}`}`;
}

function footer(plan: PhasePlan, graph: PhaseGraph): string {
  const { length } = graph.longestChain;
  const chain = length > 1 ? ` · strong: the longest chain, ${length} phases` : "";
  return `${caption(plan, graph)}${chain}`;
}

/** Waves that are described one by one; a screen reader would read thousands. */
const MAX_DESCRIBED = 50;

function description({ waves, longestChain }: PhaseGraph): string {
  const described = waves.slice(0, MAX_DESCRIBED).map((wave, index) => {
    const more = wave.length > MAX_DESCRIBED ? ` and ${wave.length - MAX_DESCRIBED} more` : "";
    return `Wave ${index + 1}: ${wave.slice(0, MAX_DESCRIBED).join(", ")}${more}.`;
  });
  const rest = waves.length > MAX_DESCRIBED ? [`${waves.length - MAX_DESCRIBED} more waves.`] : [];
  const chain = longestChain.slice(0, MAX_DESCRIBED).join(", then ");
  return [
    ...described,
    ...rest,
    ...(longestChain.length > 1 ? [`Longest chain: ${chain}.`] : []),
  ].join(" ");
}

function waveNames({ columns }: Layout): string[] {
  return columns.map(({ x, y, wave }) => {
    const name = wave === null ? "WITHOUT DEPENDENCIES" : `WAVE ${wave + 1}`;
    return `<text class="wave" x="${round(x)}" y="${round(y - 16)}">${name}</text>`;
  });
}

function edge({ from, to, points, turn, arrival }: Line, strong: boolean): string {
  const [start] = points;
  const path = [
    `M${round(start?.x ?? 0)} ${round(start?.y ?? 0)}`,
    ...bends(points),
    ...turn.map(({ x, y }) => `L${round(x)} ${round(y)}`),
    ...arrival.slice(0, 1).map(({ x }) => `H${round(x)}`),
    ...bends(arrival, 1),
  ];
  const arrow = strong ? "plan-arrow-strong" : "plan-arrow";
  return `<path class="edge${strong ? " strong" : ""}" d="${path.join("")}" marker-end="url(#${arrow})"><title>${xml(`${from} before ${to}`)}</title></path>`;
}

/**
 * Points come in pairs: across a gap the line bends, past a column (from `level` on) it runs level.
 */
function bends(points: readonly Point[], level = 0): string[] {
  return points.slice(1).map(({ x, y }, index) => {
    const before = points[index];
    if (before === undefined || index % 2 !== level) {
      return `H${round(x)}`;
    }
    const middle = round((before.x + x) / 2);
    return `C${middle} ${round(before.y)} ${middle} ${round(y)} ${round(x)} ${round(y)}`;
  });
}

function node(
  { key, x, y, width }: Box,
  { phase, strong }: { readonly phase: Phase | undefined; readonly strong: boolean },
): string {
  const { title = "", role = "" } = phase ?? {};
  const textWidth = width - 2 * PADDING;
  const lines = cutOnTwoLines(title, textWidth / TITLE_LETTER);
  const top = lines.length === 1 ? 34 : 25;
  const at = (down: number): string => `x="${round(x + PADDING)}" y="${round(y + down)}"`;
  return [
    `<g><title>${xml(`${key}: ${title} (${role})`)}</title>`,
    `<rect class="box${strong ? " strong" : ""}" x="${round(x)}" y="${round(y)}" width="${width}" height="${BOX_HEIGHT}" rx="8"/>`,
    ...lines.map(
      (line, index) => `<text class="title" ${at(top + 17 * index)}>${xml(line)}</text>`,
    ),
    `<text class="key" ${at(62)}>${xml(fitted(key, textWidth / SMALL_LETTER))}<tspan dx="${ROLE_GAP}" class="role">${xml(roleBeside(key, role, textWidth))}</tspan></text>`,
    "</g>",
  ].join("");
}

function roleBeside(key: string, role: string, textWidth: number): string {
  const left = textWidth - SMALL_LETTER * widthOf(key) - ROLE_GAP;
  return left < 40 ? "" : fitted(role, left / SMALL_LETTER);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
