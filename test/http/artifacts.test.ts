import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Finding } from "../../src/artifacts/finding.ts";
import type { Problem } from "../../src/core/schemas/schemas.ts";
import { lineOf, planCase } from "../helpers/artifacts/plan-cases.ts";
import { SCHEMA_FILE } from "../helpers/artifacts/plan-types.ts";
import { plan } from "../helpers/artifacts/plans.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

interface Report {
  readonly schema: string;
  readonly valid: boolean;
  readonly findings: readonly Finding[];
}

const SCHEMAS = "/api/artifacts/schemas";

let t: TestServer;
beforeAll(async () => {
  t = await startTestServer();
});
afterAll(() => t[Symbol.asyncDispose]());

async function validate(body: unknown) {
  return t.call<Report>("POST", "/api/artifacts/validate", { body });
}

async function refused(body: unknown): Promise<string> {
  const { status, json } = await t.call<Problem>("POST", "/api/artifacts/validate", { body });
  return `${status} ${json.code}`;
}

describe("the schemas", () => {
  it("[PLAN-17] are listed, including those that are known by id only", async () => {
    const { status, json } = await t.call<{ id: string; published: boolean }[]>("GET", SCHEMAS);
    expect(status).toBe(200);
    expect(json.map(({ id, published }) => `${id} ${published}`)).toEqual([
      "dev/phase-plan@1 true",
      "reprise/plan-checks@1 true",
      "dev/spec@1 false",
      "dev/review-finding-batch@1 false",
      "common/final-report@1 false",
    ]);
    expect((await t.call("GET", `${SCHEMAS}?x=1`)).status).toBe(422);
  });

  it("[PLAN-1] [PLAN-18] are given byte for byte, under an id that is percent-encoded or plain", async () => {
    for (const id of [
      "dev%2Fphase-plan%401",
      "dev%2fphase-plan@1",
      "dev/phase-plan@1",
      "dev/phase-plan%401",
    ]) {
      const { status, headers, text } = await t.call("GET", `${SCHEMAS}/${id}`);
      expect([status, headers.get("content-type")]).toEqual([200, "application/schema+json"]);
      expect(text).toBe(readFileSync(SCHEMA_FILE, "utf8"));
    }
    expect((await t.call("HEAD", `${SCHEMAS}/dev/phase-plan@1`)).status).toBe(200);
  });

  it("[PLAN-18] [PLAN-75] that are unknown or not published are 404, and other methods 405", async () => {
    for (const id of [
      "dev/spec@1",
      "dev%2Fspec%401",
      "dev/phase-plan@2",
      "nothing",
      "a/b/c",
      "..%2f..%2fpackage.json",
    ]) {
      const { status, json } = await t.call<Problem>("GET", `${SCHEMAS}/${id}`);
      expect([status, json.status]).toEqual([404, 404]);
      expect(["schema_unknown", "route_not_found"]).toContain(json.code);
    }
    for (const path of ["", "/dev/phase-plan@1", "/dev%2Fphase-plan%401"]) {
      const { status, headers } = await t.call("DELETE", `${SCHEMAS}${path}`);
      expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });
});

describe("validating over HTTP", () => {
  it("[PLAN-19] answers with the findings of a JSON text and of a YAML text", async () => {
    for (const file of ["valid.json", "faulty.json", "text-yaml-faults.yml"]) {
      const { text, syntax, findings } = planCase(file);
      const { status, json } = await validate({ text, syntax });
      expect(status).toBe(200);
      expect(json.schema).toBe("dev/phase-plan@1");
      // which personas there are depends on the folder, so roles are left to the command line
      const expected = findings.filter((line) => !line.includes(" unknown_role "));
      expect([file, ...json.findings.map(lineOf)]).toEqual([file, ...expected]);
      expect(json.valid).toBe(!expected.some((line) => line.startsWith("error ")));
    }
  });

  it("[PLAN-19] accepts any known id, and says what is not checked", async () => {
    const text = JSON.stringify({ runId: plan()["runId"], goal: 1 });
    const { json } = await validate({ text, schema: "dev/spec@1" });
    expect(json).toMatchObject({
      schema: "dev/spec@1",
      valid: true,
      findings: [{ code: "schema_unpublished", severity: "warning" }],
    });
    expect(await refused({ text, schema: "dev/none@1" })).toBe("404 schema_unknown");
  });

  it("[PLAN-19] gives a cycle its path and a misspelt name its suggestion", async () => {
    const { text } = planCase("faulty.json");
    const { json } = await validate({ text });
    const found = new Map(json.findings.map((finding) => [finding.code, finding]));
    expect(found.get("circular_dependency")?.path).toEqual(["build", "design", "review", "build"]);
    expect(found.get("unknown_dependency")?.suggestion).toBe("design");
    expect(found.get("duplicate_key")?.first_line).toBe(6);
  });

  it("[PLAN-19] [PLAN-76] accepts 1 MiB of JSON and 128 KiB of YAML, and not a byte more", async () => {
    const text = JSON.stringify(plan());
    const padded = (bytes: number): string => text.padEnd(bytes, " ");
    expect((await validate({ text: padded(1_048_576) })).json.valid).toBe(true);
    expect(await refused({ text: padded(1_048_577) })).toBe("413 body_too_large");
    expect((await validate({ text: padded(131_072), syntax: "yaml" })).json.valid).toBe(true);
    expect(await refused({ text: padded(131_073), syntax: "yaml" })).toBe("413 body_too_large");
    const large = { text: padded(200_000), syntax: "yaml" };
    const told = await t.call("POST", "/api/artifacts/validate", { body: large });
    expect(told.json).toMatchObject({ detail: expect.stringContaining("send it as JSON") });
    expect((await validate({ ...large, syntax: "json" })).json.valid).toBe(true);
    expect(await refused("x".repeat(7 * 1_048_576))).toBe("413 body_too_large");
  });

  it("[PLAN-19] refuses a request that does not fit", async () => {
    expect(await refused({})).toBe("422 invalid_request");
    expect(await refused({ text: 1 })).toBe("422 invalid_request");
    expect(await refused({ text: "{}", syntax: "toml" })).toBe("422 invalid_request");
    expect(await refused({ text: "{}", schema: "" })).toBe("422 invalid_request");
    expect(await refused({ text: "{}", spec: "{}" })).toBe("422 invalid_request");
    expect(await refused("{")).toBe("400 malformed_json");
    expect(await refused(undefined)).toBe("422 invalid_request");
  });

  it("[PLAN-5] survives texts that are made to cause harm", async () => {
    for (const text of [
      "[".repeat(500_000),
      `{${'"a":1,'.repeat(80_000)}"a":1}`,
      `{"${"n".repeat(200_000)}":{${'"a":1,'.repeat(50_000)}"a":1}}`,
      `{"phases":[${"{},".repeat(300_000)}0]}`,
      "\ud800",
      "\u0000",
    ]) {
      const { status, json } = await validate({ text });
      expect([status, json.valid]).toEqual([200, false]);
    }
    expect((await t.call("GET", "/readyz")).status).toBe(200);
  });

  it.each([
    ["json", `[${"0,".repeat(99_998)}0]`, `[${"0,".repeat(99_999)}0]`],
    ["yaml", "- a\n".repeat(9_999), "- a\n".repeat(10_000)],
  ])("[PLAN-19] [PLAN-77] accepts so much %s and not a value more", async (syntax, most, more) => {
    const found = async (text: string) =>
      (await validate({ text, syntax })).json.findings.map(({ code }) => code);
    expect(await found(most)).toEqual(["wrong_type"]);
    expect(await found(more)).toEqual(["too_many_values"]);
  });
});

it("[PLAN-20] requires the token as sessions do", async () => {
  await using guarded = await startTestServer({ token: "secret" });
  const calls = [
    ["GET", SCHEMAS],
    ["GET", `${SCHEMAS}/dev/phase-plan@1`],
    ["POST", "/api/artifacts/validate"],
  ] as const;
  for (const [method, path] of calls) {
    const body = method === "POST" ? { body: { text: "{}" } } : {};
    expect((await guarded.call(method, path, body)).status).toBe(401);
    const headers = { authorization: "Bearer secret" };
    expect((await guarded.call(method, path, { ...body, headers })).status).toBe(200);
    const foreign = { ...headers, origin: "http://evil.example" };
    expect((await guarded.call(method, path, { ...body, headers: foreign })).status).toBe(403);
  }
});

it("[PLAN-17] [SCHEMA-20] [PLAN-74] a folder's schemas are known too; a broken one blocks no other", async () => {
  const project = temporaryFolder();
  const save = (name: string, content: string): void => {
    mkdirSync(join(project, ".reprise/schemas"), { recursive: true });
    writeFileSync(join(project, ".reprise/schemas", name), content);
  };
  save("cut.json", "{");
  save("note.json", '{"$id": "note@1", "type": "text"}');
  save(
    "page.json",
    '{"$id": "page@1", "type": "object", "properties": {"note": {"$ref": "note@1"}}}',
  );
  save("sound.json", '{"$id": "sound@1", "type": "object"}');
  save("twice.json", '{"$id": "sound@1", "type": "array"}');
  save("old.json", '{"$id": "old@1", "$schema": "http://json-schema.org/draft-07/schema#"}');
  await using server = await startTestServer({ project });
  const list = async () => {
    const { status, json } = await server.call<{ id: string | null; error?: string }[]>(
      "GET",
      SCHEMAS,
    );
    expect(status).toBe(200);
    return json.slice(5).map(({ id, error }) => [id, error ?? null]);
  };
  const file = "The schema file .reprise/schemas";
  const mend = "correct or remove it.";
  const unsound = "is not a valid JSON Schema 2020-12:";
  expect(await list()).toEqual([
    [
      "note@1",
      expect.stringContaining(`${file}/note.json ${unsound} at /type, type must be one of`),
    ],
    ["page@1", expect.stringContaining(`${file}/page.json ${unsound} `)],
    ["sound@1", null],
    [null, expect.stringContaining(`${file}/cut.json:1 is not valid: `)],
    [
      "sound@1",
      `${file}/twice.json has the id that .reprise/schemas/sound.json has already; ${mend}`,
    ],
    ["old@1", expect.stringContaining(`${file}/old.json is written in another dialect`)],
  ]);
  const ask = async (schema: string) => {
    const body = { text: "{}", schema };
    return server.call<Report & Problem>("POST", "/api/artifacts/validate", { body });
  };
  expect((await ask("sound@1")).json.valid).toBe(true);
  expect((await ask("dev/phase-plan@1")).status).toBe(200);
  for (const id of ["note@1", "page@1"]) {
    const { status, json } = await ask(id);
    expect([status, json.code]).toEqual([422, "schema_invalid"]);
    expect(json.detail).toContain(unsound);
  }
  const old = await ask("old@1");
  expect([old.status, old.json.code]).toEqual([422, "schema_invalid"]);
  expect((await server.call("GET", `${SCHEMAS}/old@1`)).status).toBe(422);
  rmSync(join(project, ".reprise/schemas/old.json"));
  rmSync(join(project, ".reprise/schemas/cut.json"));
  rmSync(join(project, ".reprise/schemas/twice.json"));
  save("note.json", '{"$id": "note@1", "type": "object", "required": ["text"]}');
  expect((await ask("note@1")).json.findings.map(({ code }) => code)).toEqual(["missing_property"]);
  expect(await list()).toEqual([
    ["note@1", null],
    ["page@1", null],
    ["sound@1", null],
  ]);
  rmSync(join(project, ".reprise/schemas/note.json"));
  // read once
  expect((await server.call("GET", `${SCHEMAS}/note@1`)).json).toMatchObject({ $id: "note@1" });
});

it("[PLAN-17] [SCHEMA-7] nothing of it is loaded before it is needed", () => {
  const program = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ load: (url, context, next) => { seen.push(url); return next(url, context); } });
    await import("./src/http/app.ts");
    console.log(seen.join("\\n"));
  `;
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const args = ["--input-type=module", "-e", program];
  const loaded = execFileSync(process.execPath, args, { cwd, encoding: "utf8" });
  expect(loaded).toContain("/src/http/routes/artifacts/artifacts.ts");
  expect(loaded).not.toMatch(
    /\/src\/artifacts\/(?!finding\.ts)|\/node_modules\/(?:yaml|@hyperjump)\//,
  );
});
