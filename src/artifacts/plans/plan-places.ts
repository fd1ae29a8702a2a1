import { nextToken, skipSpace } from "../sources/json-token.ts";
import type { Phase, PhasePlan } from "./phase-plan.ts";
import type { OutlinedPhase, PositionedString } from "./plan-outline.ts";

/**
 * Finds the places of single phases in the text of a valid plan. `colons` are the offsets of the
 * colons of all properties: those of a value that JSON.parse made are in the same order as in its
 * text, so nothing of the text has to be read to get to a property.
 */
export class PlanPlaces {
  readonly #text: string;
  readonly #plan: PhasePlan;
  readonly #colons: Uint32Array;
  /** By position: how many properties come before the first one of the phase. */
  readonly #before: Uint32Array;

  constructor(text: string, plan: PhasePlan, colons: Uint32Array) {
    this.#text = text;
    this.#plan = plan;
    this.#colons = colons;
    this.#before = new Uint32Array(plan.phases.length);
    let count = Object.keys(plan).indexOf("phases") + 1;
    for (const [index, phase] of plan.phases.entries()) {
      this.#before[index] = count;
      count += membersOf(phase);
    }
  }

  /** A phase with the places of its texts. */
  phase(index: number): OutlinedPhase {
    const phase = this.#plan.phases[index];
    const starts = phase === undefined ? new Map<string, number>() : this.#starts(phase, index);
    const at = (name: string, text: string | undefined): PositionedString | null =>
      text === undefined ? null : { text, offset: starts.get(name) ?? 0 };
    return {
      key: at("key", phase?.key),
      role: at("role", phase?.role),
      artifactPath: at("path", phase?.expected_artifact?.path),
      artifactSchema: at("schema", phase?.expected_artifact?.schema),
      dependsOn: this.#items(phase?.depends_on ?? [], starts.get("depends_on") ?? 0),
    };
  }

  /** The offset of each value by its name; no two names of a phase and its artifact are equal. */
  #starts(phase: Phase, index: number): Map<string, number> {
    const names = Object.entries(phase).flatMap(([name, value]) =>
      name === "expected_artifact" ? [name, ...Object.keys(value)] : [name],
    );
    const first = this.#before[index] ?? 0;
    return new Map(
      names.map((name, place) => {
        const colon = this.#colons[first + place] ?? 0;
        return [name, skipSpace(this.#text, colon + 1)];
      }),
    );
  }

  #items(texts: readonly string[], start: number): PositionedString[] {
    let at = start;
    return texts.map((text) => {
      // the bracket or comma before the item, then the item
      const item = nextToken(this.#text, nextToken(this.#text, at).end);
      at = item.end;
      return { text, offset: item.start };
    });
  }
}

/** Properties of a phase, those of its artifact included. */
export function membersOf(phase: Phase): number {
  const { expected_artifact: artifact } = phase;
  const nested = artifact === undefined ? 0 : Object.keys(artifact).length;
  return Object.keys(phase).length + nested;
}
