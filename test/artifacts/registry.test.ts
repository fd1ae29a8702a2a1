import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

import { createWorkerPool } from "../../src/artifacts/project/worker-pool.ts";
import { loadSchemas, PHASE_PLAN, type SchemaRegistry } from "../../src/artifacts/registry.ts";
import { validateWith } from "../../src/artifacts/check-artifact.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { project } from "../helpers/artifacts/projects.ts";
import { SCHEMA_FILE } from "../helpers/artifacts/plan-types.ts";
import { plan } from "../helpers/artifacts/plans.ts";

const pool = createWorkerPool();
afterAll(() => pool.close());

const load = (folder: string | null): Promise<SchemaRegistry> => loadSchemas(folder, pool);

async function codes(registry: SchemaRegistry, id: string, document: unknown): Promise<string[]> {
  const artifact = { text: JSON.stringify(document), syntax: "json" } as const;
  const { findings } = await validateWith(artifact, { id, registry });
  return findings.map(({ code, pointer }) => `${code} ${pointer}`);
}

const name = {
  $id: "dev/name@1",
  type: "string",
  minLength: 2,
  $defs: { short: { maxLength: 3, type: "string" } },
};

describe("the registry", () => {
  it("[PLAN-7] knows the schemas that come with Reprise, and no others in a project without schemas", async () => {
    const registry = await load(null);
    expect(registry.entries).toEqual([
      { id: PHASE_PLAN, title: "Dev Phase Plan", published: true, source: "built-in" },
      { id: "reprise/plan-checks@1", title: "Plan Checks", published: true, source: "built-in" },
      ...["dev/spec@1", "dev/review-finding-batch@1", "common/final-report@1"].map((id) => ({
        id,
        title: null,
        published: false,
        source: "built-in",
      })),
    ]);
    expect((await load(temporaryFolder())).entries).toEqual(registry.entries);
  });

  it("[PLAN-1] gives the published schema byte for byte", async () => {
    const registry = await load(null);
    expect(registry.read(PHASE_PLAN).equals(readFileSync(SCHEMA_FILE))).toBe(true);
  });

  it("[PLAN-7] reads a project's schemas, in subfolders too, that refer to each other by id", async () => {
    const note = {
      $id: "team/deep/note@1",
      type: "object",
      properties: {
        name: { $ref: "dev/name@1" },
        short: { $ref: "dev/name@1#/$defs/short" },
        plan: { $ref: PHASE_PLAN },
        again: { $ref: "#/properties/name" },
      },
    };
    const registry = await load(project({ "name.json": name, "team/note.json": note }));
    expect(registry.entries.slice(5).map(({ id, source }) => `${source} ${id}`)).toEqual([
      "project dev/name@1",
      "project team/deep/note@1",
    ]);
    const good = { name: "Ada", short: "Ada", plan: plan(), again: "Ada" };
    expect(await codes(registry, note.$id, good)).toEqual([]);
    const bad = { name: "A", short: "Adam", plan: plan({ runId: "" }), again: "A" };
    expect(await codes(registry, note.$id, bad)).toEqual([
      "too_short /name",
      "schema_mismatch /short",
      "format_mismatch /plan/runId",
      "too_short /again",
    ]);
  });

  it("[PLAN-7] compiles each schema once", async () => {
    const registry = await load(null);
    expect(await registry.phasePlan()).toBe(await registry.phasePlan());
  });

  it("[PLAN-7] lets a project publish an id that is known by name only", async () => {
    const spec = { $id: "dev/spec@1", type: "object", required: ["goal"] };
    const registry = await load(project({ "spec.json": spec }));
    expect(await codes(registry, "dev/spec@1", { runId: 1 })).toEqual([
      "missing_property ",
      "format_mismatch /runId",
    ]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      "two with one id",
      { "a.json": name, "b.json": name },
      "b.json has the id that .reprise/schemas/a.json has already",
    ],
    [
      "the id of a built-in one",
      { "a.json": { $id: PHASE_PLAN } },
      "a.json has the id that schemas/dev/phase-plan@1.json has already",
    ],
    ["no JSON", { "a.json": "{\n]" }, "a.json:2 is not valid: "],
    [
      "a property that stands twice",
      { "a.json": '{"$id":"a","$id":"b"}' },
      "a.json:1 is not valid",
    ],
    ["no object", { "a.json": "[]" }, "a.json holds no object"],
    ["no id", { "a.json": {} }, 'a.json has no "$id"'],
    ["an id that is none", { "a.json": { $id: "a#b" } }, 'a.json has no "$id"'],
    [
      "another dialect",
      { "a.json": { $id: "a", $schema: "http://json-schema.org/draft-07/schema#" } },
      "another dialect",
    ],
    [
      "too many bytes",
      { "a.json": `{"$id":"a","$comment":"${"x".repeat(1_048_576)}"}` },
      "larger than 1 MiB",
    ],
    ["no end of nesting", { "a.json": "[".repeat(100_000) }, "nested more than 64 deep"],
  ])("[PLAN-7] refuses %s, naming the file", async (_, files, message) => {
    const registry = await load(project(files));
    expect(registry.isSound()).toBe(false);
    expect((await registry.broken()).map(({ error }) => error)).toMatchObject([
      { code: "schema_invalid", message: expect.stringContaining(message) },
    ]);
  });

  it("[SCHEMA-2] refuses each broken schema with its file and the reason, and no other", async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ type: "text" }, 'at /type, type must be one of "array", '],
      [{ pattern: "(" }, "a pattern in it is wrong: "],
      [{ properties: { a: 1 } }, "at /properties/a, a must be "],
      [{ $ref: "dev/missing@1" }, 'its reference "dev/missing@1" leads to'],
      [{ $ref: "#a" }, "No such anchor"],
      [{ $ref: "#" }, "its references form a cycle"],
      [{ $ref: "dev/bad@1" }, "a schema that it refers to is not valid"],
    ];
    const schemas = wrong.map(([schema], at) => ({ $id: `dev/wrong-${at}@1`, ...schema }));
    const registry = await load(
      project({
        "bad.json": { $id: "dev/bad@1", type: 1 },
        "name.json": name,
        ...Object.fromEntries(schemas.map((schema, at) => [`wrong-${at}.json`, schema])),
      }),
    );
    for (let time = 0; time < 2; time += 1) {
      for (const [at, [, reason]] of wrong.entries()) {
        await expect(codes(registry, `dev/wrong-${at}@1`, {}), reason).rejects.toMatchObject({
          code: "schema_invalid",
          message: expect.stringContaining(
            `The schema file .reprise/schemas/wrong-${at}.json is not a valid JSON Schema 2020-12: ${reason}`,
          ),
        });
      }
    }
    expect(await codes(registry, "dev/name@1", "Ada")).toEqual([]);
    expect(registry.isSound()).toBe(false);
  });

  it("[SCHEMA-20] refuses the id of a broken file with the file and the reason", async () => {
    const draft7 = { $schema: "http://json-schema.org/draft-07/schema#" };
    const registry = await load(
      project({
        "old.json": { $id: "acme/old@1", ...draft7 },
        "spec.json": { $id: "dev/spec@1", ...draft7 },
      }),
    );
    for (const [id, file] of [
      ["acme/old@1", "old.json"],
      ["dev/spec@1", "spec.json"],
    ] as const) {
      const expected = {
        code: "schema_invalid",
        message: expect.stringContaining(
          `The schema file .reprise/schemas/${file} is written in another dialect`,
        ),
      };
      expect(() => registry.read(id)).toThrow(expect.objectContaining(expected));
      await expect(registry.schema(id)).rejects.toMatchObject(expected);
    }
  });

  it("[PLAN-7] [PLAN-62] follows no link out of the project", async () => {
    const folder = project({ "name.json": name });
    const outside = join(temporaryFolder(), "outside.json");
    writeFileSync(outside, JSON.stringify({ $id: "dev/outside@1" }));
    symlinkSync(outside, join(folder, ".reprise/schemas/link.json"));
    symlinkSync(dirname(outside), join(folder, ".reprise/schemas/folder"));
    expect([...(await load(folder)).ids].slice(5)).toEqual(["dev/name@1"]);
  });

  it("[TRUST-23] ignores a folder of schemas that is a link out of the project or too large", async () => {
    const theirs = project({ "name.json": name });
    const linked = temporaryFolder();
    mkdirSync(join(linked, ".reprise"));
    symlinkSync(join(theirs, ".reprise/schemas"), join(linked, ".reprise/schemas"));
    const above = temporaryFolder();
    symlinkSync(join(theirs, ".reprise"), join(above, ".reprise"));
    const deep = project({ "name.json": name });
    mkdirSync(join(deep, ".reprise/schemas", "d/".repeat(17)), { recursive: true });
    for (const [folder, sentence] of [
      [linked, "The folder .reprise/schemas leads out of the project through a link"],
      [above, "The folder .reprise/schemas leads out of the project through a link"],
      [deep, "The folder .reprise/schemas has more than 10,000 entries or 16 levels"],
    ] as const) {
      const registry = await load(folder);
      expect([...registry.ids].slice(5)).toEqual([]);
      expect(await registry.broken()).toMatchObject([
        { error: { message: expect.stringContaining(sentence) } },
      ]);
    }
  });

  it("[PLAN-8] refuses an unknown and an unpublished id with one code, without repeating it", async () => {
    const registry = await load(null);
    for (const id of ["dev/phase-plan@2", "dev/spec@1", "__proto__"]) {
      expect(() => registry.read(id)).toThrow(expect.objectContaining({ code: "schema_unknown" }));
    }
    await expect(registry.schema("dev/x@1")).rejects.toMatchObject({
      code: "schema_unknown",
      message: expect.not.stringContaining("dev/x@1"),
    });
  });
});

describe("an artifact without a published schema", () => {
  it("[PLAN-8] is checked for being readable, and the finding says that this is all", async () => {
    const registry = await load(null);
    const check = (text: string) =>
      validateWith({ text, syntax: "json" }, { id: "common/final-report@1", registry });
    expect(await check("{}")).toMatchObject({
      valid: true,
      findings: [{ code: "schema_unpublished", severity: "warning" }],
    });
    expect(await check("{")).toMatchObject({
      valid: false,
      findings: [{ code: "malformed_json" }],
    });
  });

  it("[PLAN-8] [PLAN-63] must have its run's UUID if it is a specification", async () => {
    const registry = await load(null);
    const found = (document: unknown) => codes(registry, "dev/spec@1", document);
    expect(await found({ runId: plan()["runId"], any: 1 })).toEqual(["schema_unpublished "]);
    expect(await found({})).toEqual(["missing_property ", "schema_unpublished "]);
    expect(await found({ runId: "x" })).toEqual(["schema_unpublished ", "format_mismatch /runId"]);
    expect(await found([])).toEqual(["missing_property ", "schema_unpublished "]);
  });
});
