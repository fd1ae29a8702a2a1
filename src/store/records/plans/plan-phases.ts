/** A phase of a plan that somebody may have written by hand, as far as running it reads it. */
export interface StoredPlanPhase {
  readonly key: string;
  readonly title: string;
  readonly role: string;
  readonly instructions: string;
  readonly depends_on?: readonly string[];
  readonly expected_artifact?: { readonly path: string; readonly schema: string };
}

/**
 * Returns the phases in the JSON of a plan; null if it cannot be run. The fields that running it reads are checked, that
 * each key is there once, and that dependencies are phases.
 */
export function phasesOfPlan(text: string): readonly StoredPlanPhase[] | null {
  const phases = phasesIn(text);
  if (phases === null || !phases.every(isPhase)) {
    return null;
  }
  const known = new Set(phases.map(({ key }) => key));
  const isWhole = phases.every(({ depends_on = [] }) => depends_on.every((key) => known.has(key)));
  return known.size === phases.length && isWhole ? phases : null;
}

function phasesIn(text: string): readonly unknown[] | null {
  try {
    const plan: unknown = JSON.parse(text);
    const phases: unknown =
      typeof plan === "object" && plan !== null ? Reflect.get(plan, "phases") : null;
    return Array.isArray(phases) ? phases : null;
  } catch {
    return null;
  }
}

function isPhase(value: unknown): value is StoredPlanPhase {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const texts = ["key", "title", "role", "instructions"].map((name): unknown =>
    Reflect.get(value, name),
  );
  const depends: unknown = Reflect.get(value, "depends_on") ?? [];
  const artifact: unknown = Reflect.get(value, "expected_artifact");
  return (
    texts.every((text) => typeof text === "string") &&
    Array.isArray(depends) &&
    depends.every((key) => typeof key === "string") &&
    (artifact === undefined || isArtifact(artifact))
  );
}

function isArtifact(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "path") === "string" &&
    typeof Reflect.get(value, "schema") === "string"
  );
}
