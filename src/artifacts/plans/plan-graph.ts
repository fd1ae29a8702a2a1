import { findCycles, type Cycle } from "./cycles.ts";
import type { OffsetFinding } from "../finding.ts";
import type { LineIndex } from "../line-index.ts";
import { adviceOf, createNearestName } from "../../core/text/nearest-name.ts";
import type { OutlinedPhase } from "./plan-outline.ts";
import { quote } from "../../core/text/terminal-text.ts";

/** Cycles spelled out in one plan, and phases on their way together: each may be as long as it. */
const MAX_CYCLES = 100;
const MAX_CYCLE_STEPS = 100_000;

/** Steps of a cycle that its sentence names; `path` has them all. */
const NAMED_STEPS = 12;

/**
 * Checks what the schema cannot say: that keys are unique, and that `depends_on` names other
 * phases and forms no cycle. Of phases with one key the first is the one depended on.
 * Which cycles are reported does not depend on the order of the phases. At most 100 are;
 * `more_cycles` then says that there are others.
 */
export function checkPlanGraph(
  phases: readonly OutlinedPhase[],
  lines: LineIndex,
): OffsetFinding[] {
  const first = firstByKey(phases);
  return [
    ...duplicateKeys(phases, first, lines),
    ...wrongDependencies(phases, first),
    ...cycles(phases, first),
  ];
}

function firstByKey(phases: readonly OutlinedPhase[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const [index, { key }] of phases.entries()) {
    if (key !== null && !first.has(key.text)) {
      first.set(key.text, index);
    }
  }
  return first;
}

function duplicateKeys(
  phases: readonly OutlinedPhase[],
  first: ReadonlyMap<string, number>,
  lines: LineIndex,
): OffsetFinding[] {
  return phases.flatMap(({ key }, index) => {
    const owner = first.get(key?.text ?? "");
    if (key === null || owner === undefined || owner === index) {
      return [];
    }
    const first_line = lines(phases[owner]?.key?.offset ?? 0).line;
    const message = `the key ${quote(key.text)} is already the key of the phase on line ${first_line}; give this phase another`;
    const pointer = `/phases/${index}/key`;
    const { offset } = key;
    return { code: "duplicate_key", severity: "error", pointer, offset, message, first_line };
  });
}

function wrongDependencies(
  phases: readonly OutlinedPhase[],
  first: ReadonlyMap<string, number>,
): OffsetFinding[] {
  const nearest = createNearestName(first.keys());
  return phases.flatMap(({ key, dependsOn }, index) =>
    dependsOn.flatMap((name, entry) => {
      if (name === null) {
        return [];
      }
      const pointer = dependencyPointer(index, entry);
      const { text, offset } = name;
      if (text === key?.text) {
        const message = `the phase ${quote(text)} depends on itself; remove this entry`;
        return { code: "self_dependency", severity: "error", pointer, offset, message };
      }
      if (first.has(text)) {
        return [];
      }
      const { advice, ...suggestion } = adviceOf(nearest(text), "name the key of a phase");
      const message = `depends_on names the unknown phase ${quote(text)}; ${advice}`;
      const code = "unknown_dependency";
      return { code, severity: "error", pointer, offset, message, ...suggestion };
    }),
  );
}

function cycles(
  phases: readonly OutlinedPhase[],
  first: ReadonlyMap<string, number>,
): OffsetFinding[] {
  const ranked = rankByKey(phases, first);
  const successors = ranked.map(({ edges }) => edges.map(({ to }) => to));
  const limits = { cycles: MAX_CYCLES, steps: MAX_CYCLE_STEPS };
  const { cycles: found, next } = findCycles(successors, limits);
  const findings = found.map((cycle) => circularDependency(ranked, cycle));
  if (next !== null) {
    const message = `this closes a cycle too, and there may be more; only ${found.length} are listed`;
    const end = cycleEnd(ranked, next);
    findings.push({ code: "more_cycles", severity: "error", ...end, message });
  }
  return findings;
}

interface RankedPhase {
  readonly key: string;
  /** The position in the plan. */
  readonly index: number;
  /** Dependencies on other phases: by rank, and the position in `depends_on`. */
  readonly edges: readonly {
    readonly to: number;
    readonly entry: number;
    readonly offset: number;
  }[];
}

/**
 * The phases that can be depended on, by key: a search from the first on finds the same cycles in
 * every order.
 */
function rankByKey(
  phases: readonly OutlinedPhase[],
  first: ReadonlyMap<string, number>,
): RankedPhase[] {
  const keys = [...first.keys()].sort();
  const ranks = new Map(keys.map((key, rank) => [key, rank]));
  return keys.map((key, rank) => {
    const index = first.get(key) ?? 0;
    const edges = (phases[index]?.dependsOn ?? []).flatMap((name, entry) => {
      const to = name === null ? undefined : ranks.get(name.text);
      return to === undefined || to === rank ? [] : { to, entry, offset: name?.offset ?? 0 };
    });
    return { key, index, edges: edges.sort((a, b) => a.to - b.to) };
  });
}

function circularDependency(ranked: readonly RankedPhase[], cycle: Cycle): OffsetFinding {
  const keys = cycle.path.map((rank) => ranked[rank]?.key ?? "");
  const path = [...keys, ...keys.slice(0, 1)];
  const message = `depends_on forms a cycle, ${spell(path)}; remove one of these dependencies`;
  const end = cycleEnd(ranked, cycle);
  return { code: "circular_dependency", severity: "error", ...end, message, path };
}

function spell(path: readonly string[]): string {
  if (path.length <= NAMED_STEPS) {
    return path.map(quote).join(" -> ");
  }
  const head = path.slice(0, NAMED_STEPS - 2).map(quote);
  const skipped = path.length - NAMED_STEPS;
  return [...head, `(${skipped} more)`, ...path.slice(-2).map(quote)].join(" -> ");
}

function cycleEnd(ranked: readonly RankedPhase[], cycle: Cycle) {
  const last = ranked[cycle.path.at(-1) ?? 0];
  const { entry = 0, offset = 0 } = last?.edges[cycle.edge] ?? {};
  return { pointer: dependencyPointer(last?.index ?? 0, entry), offset };
}

function dependencyPointer(phase: number, entry: number): string {
  return `/phases/${phase}/depends_on/${entry}`;
}
