import { findCycles, type Cycle } from "./cycles.ts";
import type { Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { createNearestName } from "../core/nearest-name.ts";
import type { OutlinedPhase, PositionedString } from "./plan-outline.ts";
import { quote } from "../core/terminal-text.ts";

/** Cycles spelled out in one plan, and phases on their way together: each may be as long as it. */
const MAX_CYCLES = 100;
const MAX_CYCLE_STEPS = 100_000;

/** Steps of a cycle that its sentence names; `path` has them all. */
const NAMED_STEPS = 12;

/**
 * Checks what the schema cannot say: that keys are unique, and that `depends_on` names other
 * phases and leads round in no circle. Of phases with one key the first is the one depended on.
 * Which cycles are reported does not depend on the order of the phases. At most 100 are;
 * `more_cycles` then says that there are others.
 */
export function checkPlanGraph(phases: readonly OutlinedPhase[], lines: LineIndex): Finding[] {
  const first = firstByKey(phases);
  return [
    ...duplicateKeys(phases, first, lines),
    ...wrongDependencies(phases, first, lines),
    ...circles(phases, first, lines),
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
): Finding[] {
  return phases.flatMap(({ key }, index) => {
    if (key === null) {
      return [];
    }
    const owner = first.get(key.text) ?? index;
    if (owner === index) {
      return [];
    }
    const line = lines(phases[owner]?.key?.offset ?? 0).line;
    return {
      code: "duplicate_key",
      severity: "error",
      pointer: `/phases/${index}/key`,
      ...lines(key.offset),
      message: `the key ${quote(key.text)} is already the key of the phase on line ${line}; give this phase another`,
      first_line: line,
    };
  });
}

function wrongDependencies(
  phases: readonly OutlinedPhase[],
  first: ReadonlyMap<string, number>,
  lines: LineIndex,
): Finding[] {
  const nearest = createNearestName(first.keys());
  return phases.flatMap(({ key, dependsOn }, index) =>
    dependsOn.flatMap((name, entry) => {
      if (name === null) {
        return [];
      }
      const at = { pointer: dependencyPointer(index, entry), ...lines(name.offset) };
      if (name.text === key?.text) {
        return selfDependency(name, at);
      }
      return first.has(name.text) ? [] : unknownDependency(name, nearest(name.text), at);
    }),
  );
}

type At = Pick<Finding, "pointer" | "line" | "column">;

function selfDependency(name: PositionedString, at: At): Finding {
  const message = `the phase ${quote(name.text)} depends on itself; remove this entry`;
  return { code: "self_dependency", severity: "error", ...at, message };
}

function unknownDependency(
  name: PositionedString,
  suggestion: string | undefined,
  at: At,
): Finding {
  const unknown = `depends_on names the unknown phase ${quote(name.text)}`;
  const advice =
    suggestion === undefined ? "name the key of a phase" : `did you mean ${quote(suggestion)}?`;
  return {
    code: "unknown_dependency",
    severity: "error",
    ...at,
    message: `${unknown}; ${advice}`,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function circles(
  phases: readonly OutlinedPhase[],
  first: ReadonlyMap<string, number>,
  lines: LineIndex,
): Finding[] {
  const ranked = rankByKey(phases, first);
  const successors = ranked.map(({ edges }) => edges.map(({ to }) => to));
  const limits = { cycles: MAX_CYCLES, steps: MAX_CYCLE_STEPS };
  const { cycles, next } = findCycles(successors, limits);
  const found = cycles.map((cycle) => circularDependency(ranked, cycle, lines));
  if (next === null) {
    return found;
  }
  const message = `this closes a circle too, and there may be more; only ${cycles.length} are listed`;
  return [
    ...found,
    { code: "more_cycles", severity: "error", ...cycleEnd(ranked, next, lines), message },
  ];
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

/** The phases that can be depended on, by key: a search from the first on finds the same cycles in every order. */
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

function circularDependency(
  ranked: readonly RankedPhase[],
  cycle: Cycle,
  lines: LineIndex,
): Finding {
  const keys = cycle.path.map((rank) => ranked[rank]?.key ?? "");
  const path = [...keys, ...keys.slice(0, 1)];
  return {
    code: "circular_dependency",
    severity: "error",
    ...cycleEnd(ranked, cycle, lines),
    message: `depends_on leads round in a circle, ${spell(path)}; remove one of these dependencies`,
    path,
  };
}

function spell(path: readonly string[]): string {
  if (path.length <= NAMED_STEPS) {
    return path.map(quote).join(" -> ");
  }
  const head = path.slice(0, NAMED_STEPS - 2).map(quote);
  const skipped = path.length - NAMED_STEPS;
  return [...head, `(${skipped} more)`, ...path.slice(-2).map(quote)].join(" -> ");
}

function cycleEnd(ranked: readonly RankedPhase[], cycle: Cycle, lines: LineIndex): At {
  const last = ranked[cycle.path.at(-1) ?? 0];
  const { entry = 0, offset = 0 } = last?.edges[cycle.edge] ?? {};
  return { pointer: dependencyPointer(last?.index ?? 0, entry), ...lines(offset) };
}

function dependencyPointer(phase: number, entry: number): string {
  return `/phases/${phase}/depends_on/${entry}`;
}
