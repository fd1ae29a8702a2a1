import { readFileSync } from "node:fs";

import { compileSchema, type CompiledSchema } from "../../../src/artifacts/compile-schema.ts";
import { SCHEMA_FILE } from "./plan-types.ts";

type Fields = Record<string, unknown>;

export const RUN_ID = "0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01";

/** A valid plan of the required properties; a field given as undefined is left out. */
export function plan(fields: Fields = {}): Fields {
  return { runId: RUN_ID, phaseKey: "planning", phases: [phase()], ...fields };
}

/** A valid phase of the required properties. */
export function phase(fields: Fields = {}): Fields {
  return { key: "build", title: "Build", role: "assistant", instructions: "0123456789", ...fields };
}

/** What the plans of the cases may name. */
export const KNOWN = {
  roles: new Set(["assistant", "planner", "reviewer"]),
  schemas: new Set([
    "dev/phase-plan@1",
    "dev/spec@1",
    "dev/review-finding-batch@1",
    "common/final-report@1",
  ]),
};

/** The published schema of a phase plan. */
export function planSchema(): CompiledSchema {
  return compileText(readFileSync(SCHEMA_FILE, "utf8"));
}

/** One schema without others. */
export function compileText(text: string): CompiledSchema {
  return compileSchema({ $id: "test/schema@1", ...JSON.parse(text) });
}
