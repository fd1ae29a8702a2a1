import { findCycles } from "./cycles.ts";
import type { Cycle } from "./cycles.ts";
import type { Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { createNearestName } from "./nearest-name.ts";
import type { OutlinedPhase, PlacedString } from "./plan-outline.ts";
import { quote } from "./quote.ts";

/** Cycles spelled out in one plan; each may be as long as the plan. */
const MAX_CYCLES = 100;

/** Steps of a cycle that its sentence names; `path` has them all. */
const NAMED_STEPS = 12;

/**
 * Checks what the schema cannot say: that keys are unique, and that `depends_on` names other
 * phases and leads round in no circle. Of phases with one key the first is the one depended on.
 * At most 100 cycles are told; `more_cycles` then says that there are others.
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
    if (key !== null && !first.has(key.text)) first.set(key.text, index);
  }
  return first;
}

function duplicateKeys(
  phases: readonly OutlinedPhase[],
  first: ReadonlyMap<string, number>,
  lines: LineIndex,
): Finding[] {
  return phases.flatMap(({ key }, index) => {
    if (key === null) return [];
    const owner = first.get(key.text) ?? index;
    if (owner === index) return [];
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
      if (name === null) return [];
      const at = { pointer: dependencyPointer(index, entry), ...lines(name.offset) };
      if (name.text === key?.text) return selfDependency(name, at);
      return first.has(name.text) ? [] : unknownDependency(name, nearest(name.text), at);
    }),
  );
}

type At = Pick<Finding, "pointer" | "line" | "column">;

function selfDependency(name: PlacedString, at: At): Finding {
  const message = `the phase ${quote(name.text)} depends on itself; remove this entry`;
  return { code: "self_dependency", severity: "error", ...at, message };
}

function unknownDependency(name: PlacedString, suggestion: string | undefined, at: At): Finding {
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
  const successors = phases.map(({ key, dependsOn }) =>
    dependsOn.map((name) =>
      name === null || name.text === key?.text ? -1 : (first.get(name.text) ?? -1),
    ),
  );
  const { cycles, next } = findCycles(successors, MAX_CYCLES);
  const found = cycles.map((cycle) => circularDependency(phases, cycle, lines));
  if (next === null) return found;
  const message = `more circular dependencies follow; only the first ${MAX_CYCLES} are listed`;
  return [
    ...found,
    { code: "more_cycles", severity: "error", ...cycleEnd(phases, next, lines), message },
  ];
}

function circularDependency(
  phases: readonly OutlinedPhase[],
  cycle: Cycle,
  lines: LineIndex,
): Finding {
  const keys = cycle.path.map((index) => phases[index]?.key?.text ?? "");
  const path = [...keys, ...keys.slice(0, 1)];
  return {
    code: "circular_dependency",
    severity: "error",
    ...cycleEnd(phases, cycle, lines),
    message: `depends_on leads round in a circle, ${spell(path)}; remove one of these dependencies`,
    path,
  };
}

function spell(path: readonly string[]): string {
  if (path.length <= NAMED_STEPS) return path.map(quote).join(" -> ");
  const head = path.slice(0, NAMED_STEPS - 2).map(quote);
  const skipped = path.length - NAMED_STEPS;
  return [...head, `(${skipped} more)`, ...path.slice(-2).map(quote)].join(" -> ");
}

function cycleEnd(phases: readonly OutlinedPhase[], cycle: Cycle, lines: LineIndex): At {
  const last = cycle.path.at(-1) ?? 0;
  const offset = phases[last]?.dependsOn[cycle.edge]?.offset ?? 0;
  return { pointer: dependencyPointer(last, cycle.edge), ...lines(offset) };
}

function dependencyPointer(phase: number, entry: number): string {
  return `/phases/${phase}/depends_on/${entry}`;
}
