import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import { readJson } from "../../src/artifacts/sources/json-source.ts";
import { createLineIndex } from "../../src/artifacts/line-index.ts";
import { SCHEMA_FILE } from "../helpers/artifacts/plan-types.ts";
import { compileText } from "../helpers/artifacts/plans.ts";

describe("the schema dev/phase-plan@1", () => {
  it("[PLAN-1] has the promised dialect, id and title, and no other vocabulary", () => {
    const text = readFileSync(SCHEMA_FILE, "utf8");
    expect(JSON.parse(text)).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "dev/phase-plan@1",
      title: "Dev Phase Plan",
    });
    const names = new Set(Array.from(text.matchAll(/"([$\w]+)":/g), ([, name]) => name));
    expect(names).toEqual(
      new Set([
        "$id",
        "$schema",
        "additionalProperties",
        "depends_on",
        "description",
        "estimated_duration_hours",
        "expected_artifact",
        "format",
        "instructions",
        "items",
        "key",
        "minLength",
        "minimum",
        "path",
        "pattern",
        "phaseKey",
        "phases",
        "properties",
        "required",
        "role",
        "runId",
        "schema",
        "title",
        "type",
      ]),
    );
  });
});

/** What a schema has to say of a document. */
function faults(schema: object, document: unknown): (readonly [string, string, string])[] {
  const text = JSON.stringify(document);
  const lines = createLineIndex(text);
  const { root } = readJson(text, lines);
  return compileText(JSON.stringify(schema))
    .check(root!, lines, 100)
    .map(({ code, pointer, message }) => [code, pointer, message]);
}

describe("a schema", () => {
  it.each<[object, unknown, string]>([
    [{ type: "string", pattern: "^b$" }, "a", "the document must match the pattern ^b$"],
    [{ enum: ["a", 1] }, "b", 'the document must be one of "a", 1'],
    [{ const: { a: 1 } }, "b", 'the document must be {"a":1}'],
    [{ type: "number", maximum: 3 }, 4, "the document must be 3 or less"],
    [{ type: "number", exclusiveMinimum: 3 }, 3, "the document must be more than 3"],
    [{ type: "number", exclusiveMaximum: 3 }, 3, "the document must be less than 3"],
    [{ type: "number", multipleOf: 2 }, 3, "the document must be a multiple of 2"],
    [{ type: "string", maxLength: 1 }, "ab", "the document must have at most 1 characters"],
    [{ type: "array", minItems: 1 }, [], "the document must have at least 1 items"],
    [{ type: "array", maxItems: 0 }, [1], "the document must have at most 0 items"],
    [{ type: "array", uniqueItems: true }, [1, 1], "the document must not hold an item twice"],
    [{ type: "object", minProperties: 1 }, {}, "the document must have at least 1 members"],
    [{ type: ["string", "null"] }, 1, "the document must be a string or null but is a number"],
    [{ not: {} }, 1, `the document does not follow the schema's rule "not"`],
    [{ type: "string", format: "date" }, "x", "the document must be a date"],
  ])("[PLAN-3] %j says what is wrong with %j", (schema, document, sentence) => {
    expect(faults(schema, document).map(([, , message]) => message)).toEqual([sentence]);
  });

  it("[PLAN-3] names the property that is not allowed, also if none is", () => {
    const schema = { type: "object", properties: {}, unevaluatedProperties: false };
    expect(faults(schema, { a: 1 })).toEqual([
      ["unknown_property", "/a", 'the property "a" is unknown; remove it; allowed here: nothing'],
    ]);
  });

  it("[PLAN-3] refuses numbers that JavaScript cannot represent", () => {
    const { root } = readJson("1e999", createLineIndex("1e999"));
    const [fault] = compileText('{"type":"number"}').check(
      root!,
      () => ({ line: 1, column: 1 }),
      1,
    );
    expect(fault?.message).toBe(
      "the document must be a number but is beyond the largest number there is, 1.8e308",
    );
  });

  it("[PLAN-5] lists a limited number of errors, and the ones left out do not change the result", () => {
    const lines = createLineIndex("");
    const { root } = readJson(JSON.stringify(Array(30_000).fill("x")), lines);
    const numbers = { type: "array", items: { type: "number" } };
    const deep = { anyOf: [{ type: "number" }, { $ref: "#/$defs/never" }] };
    const parts = { type: "array", items: { $ref: "#/$defs/deep" }, $defs: { deep, never: false } };
    for (const schema of [numbers, parts]) {
      const { check } = compileText(JSON.stringify(schema));
      const found = check(root!, lines, Number.POSITIVE_INFINITY);
      expect(found.length).toBeGreaterThan(10_000);
      // the last error may come with those of its parts
      expect(found.length).toBeLessThan(10_010);
    }
    const either = compileText(JSON.stringify({ anyOf: [numbers, { type: "array" }] }));
    expect(either.check(root!, lines, 1)).toEqual([]);
  });

  it("[PLAN-3] names a property of an open document without letting it write on a terminal", () => {
    const schema = { type: "object", additionalProperties: { type: "string" } };
    expect(faults(schema, { "a/\u001b[2J": 1 })).toEqual([
      ["wrong_type", "/a~1\u001b[2J", '"a/␛[2J" must be a string but is a number'],
    ]);
  });
});
