import type { CompiledSchema } from "./compile-schema.ts";
import { BACKSLASH, isSpace, QUOTE } from "./json-token.ts";
import { layerPhases, type Adjacency } from "./layers.ts";
import type { PhasePlan } from "./phase-plan.ts";
import type { KnownNames } from "./plan-names.ts";
import { comparedPath, pathProblem } from "./plan-warnings.ts";

interface PlanReading {
  readonly schema: CompiledSchema;
  readonly known: KnownNames;
  readonly maxValues: number;
}

/**
 * Reads a JSON plan without findings, several times faster than a reader that records positions.
 * Null for every other text, which then has to be explained.
 */
export function readPlanFast(
  text: string,
  { schema, known, maxValues }: PlanReading,
): PhasePlan | null {
  const plan = parse(text);
  if (!isPhasePlan(plan, schema)) {
    return null;
  }
  const { members, values } = sizeOf(plan);
  // JSON.parse keeps one of two properties with one name; nesting too deep does not fit the schema
  if (values > maxValues || members !== countMembers(text)) {
    return null;
  }
  if (!knowsNames(plan, known) || mayWarnOfPaths(plan)) {
    return null;
  }
  const layers = layerPhases(plan.phases);
  return layers === null || repeats(layers.dependents) ? null : plan;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The type is made from the schema, so what the schema accepts is of the type. */
export function isPhasePlan(value: unknown, schema: CompiledSchema): value is PhasePlan {
  return schema.accepts(value);
}

function sizeOf(plan: PhasePlan): { members: number; values: number } {
  let members = Object.keys(plan).length;
  let items = plan.phases.length;
  for (const phase of plan.phases) {
    members += Object.keys(phase).length;
    if (phase.expected_artifact !== undefined) {
      members += 2;
    }
    items += phase.depends_on?.length ?? 0;
  }
  return { members, values: 1 + members + items };
}

/**
 * Counts the properties in a text that is known to be JSON: its colons after the end of a string.
 * A string that begins with a colon is counted too, which only costs the quick way. A name that
 * ends in a backslash is not; no plan has one, except in a value whose property is given twice.
 */
function countMembers(text: string): number {
  let members = 0;
  for (let colon = text.indexOf(":"); colon !== -1; colon = text.indexOf(":", colon + 1)) {
    let before = colon - 1;
    while (isSpace(text.charCodeAt(before))) {
      before -= 1;
    }
    const ends = text.charCodeAt(before) === QUOTE && text.charCodeAt(before - 1) !== BACKSLASH;
    members += ends ? 1 : 0;
  }
  return members;
}

/** Whether an artifact's path may be worth a warning. */
function mayWarnOfPaths({ phases }: PhasePlan): boolean {
  const paths = new Set<string>();
  let artifacts = 0;
  for (const { expected_artifact: artifact } of phases) {
    if (artifact === undefined) {
      continue;
    }
    if (pathProblem(artifact.path) !== null) {
      return true;
    }
    artifacts += 1;
    paths.add(comparedPath(artifact.path));
  }
  return paths.size < artifacts;
}

/** Whether a phase names a dependency twice: the dependents of each ascend. */
function repeats({ starts, targets }: Adjacency): boolean {
  for (let node = 0; node + 1 < starts.length; node += 1) {
    const end = starts[node + 1] ?? 0;
    for (let at = (starts[node] ?? 0) + 1; at < end; at += 1) {
      if (targets[at] === targets[at - 1]) {
        return true;
      }
    }
  }
  return false;
}

function knowsNames(plan: PhasePlan, known: KnownNames): boolean {
  const { roles, readers, schemas, runId } = known;
  if (runId !== undefined && runId.toLowerCase() !== plan.runId.toLowerCase()) {
    return false;
  }
  return plan.phases.every(
    ({ role, expected_artifact: artifact }) =>
      (roles?.has(role) ?? true) &&
      (artifact === undefined ||
        ((schemas?.has(artifact.schema) ?? true) && readers?.has(role) !== true)),
  );
}
