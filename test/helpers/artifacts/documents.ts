import * as fc from "fast-check";

import { RUN_ID } from "./plans.ts";
import { anyText } from "../any-text.ts";

/** Strings at the borders of every rule of the schema, and any others. */
const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "build", "b-2", "assistant", "0123456789") },
  fc.constantFrom("", "A", "1a", "a_b", "ä", "012345678", "🙂".repeat(9), "🙂".repeat(10)),
  anyText({ maxLength: 12 }),
);
const runId = fc.oneof(
  { weight: 6, arbitrary: fc.uuid() },
  fc.constantFrom(RUN_ID.toUpperCase(), `urn:uuid:${RUN_ID}`, `{${RUN_ID}}`, RUN_ID.slice(1)),
  text,
);
const long = fc.oneof({ weight: 3, arbitrary: fc.string({ minLength: 8, maxLength: 12 }) }, text);
const hours = fc.oneof(
  fc.constantFrom(0, -0, 0.1, -0.1, 5e-324, -5e-324, 1e308),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Mostly what the property takes, now and then any JSON. */
function mostly<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary }, fc.jsonValue({ maxDepth: 1 }));
}

/** Objects of these properties, some left out and now and then one more. */
function objects(fields: Record<string, fc.Arbitrary<unknown>>, required: string[]) {
  const record = fc.record(fields, { requiredKeys: required });
  const partial = fc.record(fields, { requiredKeys: [] });
  const more = fc
    .tuple(record, fc.constantFrom("depend_on", "id", "a/b", "__proto__", ""), fc.jsonValue())
    .map(([value, name, extra]) => ({ ...value, [name]: extra }));
  return mostly(
    fc.oneof({ weight: 12, arbitrary: record }, { weight: 1, arbitrary: partial }, more),
  );
}

const artifact = objects({ path: mostly(text), schema: mostly(text) }, ["path", "schema"]);
const phase = objects(
  {
    key: mostly(text),
    title: mostly(text),
    role: mostly(text),
    instructions: mostly(long),
    expected_artifact: artifact,
    depends_on: mostly(fc.array(mostly(text), { maxLength: 3 })),
  },
  ["key", "title", "role", "instructions"],
);

/** Values that are nearly phase plans: about a third fits the schema. */
export const documents: fc.Arbitrary<unknown> = objects(
  {
    runId: mostly(runId),
    phaseKey: mostly(text),
    phases: mostly(fc.array(phase, { maxLength: 3 })),
    estimated_duration_hours: mostly(hours),
  },
  ["runId", "phaseKey", "phases"],
);
