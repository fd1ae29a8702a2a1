import type { CompiledSchema } from "../compile-schema.ts";
import { type Finding, positioned } from "../finding.ts";
import { BACKSLASH, isSpace, QUOTE } from "../sources/json-token.ts";
import { layerPhases, type Adjacency, type Layers } from "./layers.ts";
import { createLineIndex } from "../line-index.ts";
import type { PhasePlan } from "./phase-plan.ts";
import { type KnownNames, phaseNames } from "./plan-names.ts";
import { membersOf, PlanPlaces } from "./plan-places.ts";
import { comparedPath, pathProblem, phaseWarnings, sharedPathWarning } from "./plan-warnings.ts";
import { sharedPaths, type SharedPath } from "./shared-paths.ts";

interface PlanReading {
  readonly schema: CompiledSchema;
  readonly known: KnownNames;
  readonly maxValues: number;
}

export interface FastReading {
  readonly plan: PhasePlan;
  /** A valid plan has no other findings. */
  readonly warnings: readonly Finding[];
}

/**
 * Reads a valid JSON plan, several times faster than a reader that records all positions. Null for
 * every other text, which then has to be explained.
 */
export function readPlanFast(
  text: string,
  { schema, known, maxValues }: PlanReading,
): FastReading | null {
  const plan = parse(text);
  if (!isPhasePlan(plan, schema) || isOfOtherRun(plan, known)) {
    return null;
  }
  const { members, values } = sizeOf(plan);
  // nesting too deep does not fit the schema
  const colons = values > maxValues ? null : memberColons(text, members);
  const layers = colons === null ? null : layerPhases(plan.phases);
  if (colons === null || layers === null) {
    return null;
  }
  const shared = sharedPathsOf(plan, layers);
  const suspects = suspectsOf(plan, { known, shared, layers });
  if (suspects.length === 0) {
    return { plan, warnings: [] };
  }
  const places = new PlanPlaces(text, plan, colons);
  const outlined = new Map(suspects.map((index) => [index, places.phase(index)]));
  const names = phaseNames(known);
  const warnings = [
    ...[...outlined].flatMap(([index, phase]) => [
      ...phaseWarnings(phase, index),
      ...names(phase, index),
    ]),
    ...shared.map(({ phase, other }) =>
      sharedPathWarning(outlined.get(phase), { index: phase, other: plan.phases[other]?.key }),
    ),
  ];
  const lines = createLineIndex(text);
  return { plan, warnings: warnings.map((warning) => positioned(warning, lines)) };
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
    members += membersOf(phase);
    items += phase.depends_on?.length ?? 0;
  }
  return { members, values: 1 + members + items };
}

/**
 * The colons after the names of properties in a text that is known to be JSON: those after the end
 * of a string. Null unless there are `count` of them: JSON.parse keeps one of two properties with
 * one name. A string that begins with a colon is counted too, which only costs the quick way. A name
 * that ends in a backslash is not; no plan has one, except in a value whose property is given twice.
 */
function memberColons(text: string, count: number): Uint32Array | null {
  const colons = new Uint32Array(count);
  let found = 0;
  for (let colon = text.indexOf(":"); colon !== -1; colon = text.indexOf(":", colon + 1)) {
    let before = colon - 1;
    while (isSpace(text.charCodeAt(before))) {
      before -= 1;
    }
    if (text.charCodeAt(before) === QUOTE && text.charCodeAt(before - 1) !== BACKSLASH) {
      if (found === count) {
        return null;
      }
      colons[found] = colon;
      found += 1;
    }
  }
  return found === count ? colons : null;
}

/** The phases that have the artifact of another one; most plans have no path twice. */
function sharedPathsOf({ phases }: PhasePlan, layers: Layers): SharedPath[] {
  const paths = new Set<string>();
  let artifacts = 0;
  for (const { expected_artifact: artifact } of phases) {
    if (artifact !== undefined) {
      artifacts += 1;
      paths.add(comparedPath(artifact.path));
    }
  }
  if (paths.size === artifacts) {
    return [];
  }
  const all = phases.map(({ expected_artifact: artifact }) =>
    artifact === undefined ? null : comparedPath(artifact.path),
  );
  return sharedPaths(all, layers);
}

interface Suspecting {
  readonly known: KnownNames;
  readonly shared: readonly SharedPath[];
  readonly layers: Layers;
}

/** The positions of the phases that may be worth a warning, ascending. */
function suspectsOf({ phases }: PhasePlan, { known, shared, layers }: Suspecting): number[] {
  const { roles, schemas } = known;
  const suspects = new Set(shared.map(({ phase }) => phase));
  addRepeating(suspects, layers.dependents);
  for (const [index, { role, expected_artifact: artifact }] of phases.entries()) {
    const isNamed =
      (roles?.has(role) ?? true) &&
      (artifact === undefined || (schemas?.has(artifact.schema) ?? true));
    if (!isNamed || (artifact !== undefined && pathProblem(artifact.path) !== null)) {
      suspects.add(index);
    }
  }
  return [...suspects].sort((a, b) => a - b);
}

/** Adds the phases that name a dependency twice: the dependents of each ascend. */
function addRepeating(suspects: Set<number>, { starts, targets }: Adjacency): void {
  for (let node = 0; node + 1 < starts.length; node += 1) {
    const end = starts[node + 1] ?? 0;
    for (let at = (starts[node] ?? 0) + 1; at < end; at += 1) {
      const target = targets[at];
      if (target !== undefined && target === targets[at - 1]) {
        suspects.add(target);
      }
    }
  }
}

function isOfOtherRun(plan: PhasePlan, { runId }: KnownNames): boolean {
  return runId !== undefined && runId.toLowerCase() !== plan.runId.toLowerCase();
}
