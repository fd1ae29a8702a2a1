import type { OffsetFinding } from "../finding.ts";
import { adviceOf, createNearestName } from "../../core/text/nearest-name.ts";
import type { OutlinedPhase, PositionedString, PlanOutline } from "./plan-outline.ts";
import { quote } from "../../core/text/terminal-text.ts";

/** Names outside of a plan that it may refer to. What is not given is not checked. */
export interface KnownNames {
  /** Names of all personas. */
  readonly roles?: ReadonlySet<string> | undefined;
  /** Ids of all schemas, published or not. */
  readonly schemas?: ReadonlySet<string> | undefined;
  /** The run's own UUID, from its specification. */
  readonly runId?: string | undefined;
}

/**
 * Compares what a plan names with what is known: a role that no persona has and an unknown schema
 * are warnings, because both may be made later; another run's UUID is an error.
 */
export function checkNames(plan: PlanOutline, known: KnownNames): OffsetFinding[] {
  return [...runIdMismatch(plan.runId, known.runId), ...plan.phases.flatMap(phaseNames(known))];
}

/** Makes a check of the names of one phase after the other. */
export function phaseNames(
  known: KnownNames,
): (phase: OutlinedPhase, index: number) => OffsetFinding[] {
  const role = unknownName("unknown_role", known.roles, (name) => ({
    unknown: `no persona has the role ${name}`,
    advice: "make one in .reprise/personas/, or use an existing one",
  }));
  const schema = unknownName("unknown_schema", known.schemas, (name) => ({
    unknown: `no schema has the id ${name}`,
    advice: "put its schema into .reprise/schemas/, or use an existing one",
  }));
  return (phase, index) => [
    ...role(phase.role, `/phases/${index}/role`),
    ...schema(phase.artifactSchema, `/phases/${index}/expected_artifact/schema`),
  ];
}

type NameCheck = (name: PositionedString | null, pointer: string) => OffsetFinding[];

function unknownName(
  code: "unknown_role" | "unknown_schema",
  known: ReadonlySet<string> | undefined,
  words: (quoted: string) => { readonly unknown: string; readonly advice: string },
): NameCheck {
  if (known === undefined) {
    return () => [];
  }
  const nearest = createNearestName(known);
  return (name, pointer) => {
    if (name === null || known.has(name.text)) {
      return [];
    }
    const { unknown, advice: otherwise } = words(quote(name.text));
    const { advice, ...suggestion } = adviceOf(nearest(name.text), otherwise);
    const message = `${unknown}; ${advice}`;
    return [{ code, severity: "warning", pointer, offset: name.offset, message, ...suggestion }];
  };
}

function runIdMismatch(
  found: PositionedString | null,
  expected: string | undefined,
): OffsetFinding[] {
  // a UUID may be written in capitals
  if (
    found === null ||
    expected === undefined ||
    found.text.toLowerCase() === expected.toLowerCase()
  ) {
    return [];
  }
  const message = `runId is another run's; the specification has ${quote(expected)}`;
  const finding = { code: "run_id_mismatch", severity: "error", pointer: "/runId" } as const;
  return [{ ...finding, offset: found.offset, message, suggestion: expected }];
}
