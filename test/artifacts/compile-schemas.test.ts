import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { readJson } from "../../src/artifacts/json-source.ts";
import { createLineIndex } from "../../src/artifacts/line-index.ts";
import { builtInSchemas, createSchemaRegistry, PHASE_PLAN } from "../../src/artifacts/registry.ts";
import { compileSchema } from "../../src/artifacts/schema-check.ts";

describe("the schema dev/phase-plan@1", () => {
  it("has the dialect, id and title that are promised, and no vocabulary beyond", async () => {
    const text = (await createSchemaRegistry(builtInSchemas()).read(PHASE_PLAN)).toString("utf8");
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

describe("compileSchema", () => {
  it.each([
    "{",
    '{"type": "nothing"}',
    '{"typ": "string"}',
    '{"type":"string","format":"no-such"}',
  ])("refuses %s, which is no schema", (text) => {
    expect(() => compileSchema(text)).toThrow(expect.objectContaining({ code: "schema_invalid" }));
  });

  it("says in a sentence what breaks a rule that has no words of its own", () => {
    const text = '{"list": [1, 1], "name": "a", "both": true}';
    const check = compileSchema(
      JSON.stringify({
        type: "object",
        properties: {
          list: { type: "array", items: { type: "integer" }, uniqueItems: true },
          name: { type: "string", pattern: "^b$" },
          both: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
      }),
    );
    const lines = createLineIndex(text);
    const { root } = readJson(text, lines);
    expect(check(root!, lines, 10).map(({ code, message }) => [code, message])).toEqual([
      ["schema_mismatch", 'list does not fit the schema\'s rule "uniqueItems"'],
      ["pattern_mismatch", "name must match the pattern ^b$"],
      ["wrong_type", "both must be a string but is a boolean"],
      ["wrong_type", "both must be null but is a boolean"],
      ["schema_mismatch", 'both does not fit the schema\'s rule "anyOf"'],
    ]);
  });
});

it("every published schema's file holds the schema of its id", async () => {
  for (const { id, file } of builtInSchemas()) {
    if (file === null) continue;
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ $id: id });
  }
});

it("refuses an unknown and an unpublished id with one code", async () => {
  const registry = createSchemaRegistry(builtInSchemas());
  for (const id of ["dev/phase-plan@2", "dev/spec@1"]) {
    await expect(registry.read(id)).rejects.toMatchObject({ code: "schema_unknown" });
  }
});
