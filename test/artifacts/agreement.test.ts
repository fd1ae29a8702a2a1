import { readFileSync } from "node:fs";

import "@hyperjump/json-schema/formats";
import {
  registerSchema,
  setShouldValidateFormat,
  validate,
} from "@hyperjump/json-schema/draft-2020-12";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { readSource } from "../../src/artifacts/sources/read-source.ts";
import { createLineIndex } from "../../src/artifacts/line-index.ts";
import { toValue } from "../../src/artifacts/sources/source.ts";
import { readPlanCases } from "../helpers/artifacts/plan-cases.ts";
import { documents } from "../helpers/artifacts/documents.ts";
import { SCHEMA_FILE } from "../helpers/artifacts/plan-types.ts";
import { planSchema } from "../helpers/artifacts/plans.ts";
import { testSize } from "../helpers/size.ts";

const RUNS = testSize("documents");
const schema = planSchema();
let other: (value: unknown) => boolean;

beforeAll(async () => {
  const id = "https://reprise.invalid/dev/phase-plan@1";
  setShouldValidateFormat(true);
  const { $id: _, ...rest } = JSON.parse(readFileSync(SCHEMA_FILE, "utf8"));
  registerSchema(rest, id);
  const check = await validate(id);
  other = (value) => check(JSON.parse(JSON.stringify(value))).valid;
});

describe("another validator", () => {
  it("[PLAN-22] accepts and refuses the same cases of test/fixtures/plans", () => {
    const read = readPlanCases().map(({ file, text, syntax }) => {
      const { root } = readSource(text, { syntax, lines: createLineIndex(text) });
      return { file, root };
    });
    const values = read.flatMap(({ file, root }) =>
      root === null ? [] : [{ file, value: toValue(root) }],
    );
    expect(values.length).toBeGreaterThan(100);
    for (const { file, value } of values) {
      expect(`${file} ${schema.accepts(value)}`).toBe(`${file} ${other(value)}`);
    }
  });

  it("[PLAN-22] accepts and refuses the same documents that are nearly plans", () => {
    let accepted = 0;
    fc.assert(
      fc.property(documents, (drawn) => {
        // JSON has no -0 and no undefined
        const value: unknown = JSON.parse(JSON.stringify(drawn));
        accepted += schema.accepts(value) ? 1 : 0;
        expect(schema.accepts(value)).toBe(other(value));
      }),
      { numRuns: RUNS },
    );
    // neither validator could say the same to everything
    expect(accepted).toBeGreaterThan(RUNS / 20);
    expect(accepted).toBeLessThan(RUNS * 0.9);
  });
});
