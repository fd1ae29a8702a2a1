import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, describe, expect, it } from "vitest";

import type { Finding } from "../../../src/artifacts/finding.ts";
import { createWorkerPool } from "../../../src/artifacts/project/worker-pool.ts";
import { loadSchemas } from "../../../src/artifacts/registry.ts";
import { validateWith } from "../../../src/artifacts/check-artifact.ts";
import { project, SLOW_SCHEMA, SLOW_TEXT } from "../../helpers/artifacts/projects.ts";

const pool = createWorkerPool();
afterAll(() => pool.close());

async function check(
  folder: string,
  id: string,
  text: string,
  threads = pool,
): Promise<readonly Finding[]> {
  const registry = await loadSchemas(folder, threads);
  return (await validateWith({ text, syntax: "json" }, { id, registry })).findings;
}

const rule = { $id: "dev/rule@1" };

describe("a project's schema", () => {
  it("[SCHEMA-1] reports for each document what is wrong, and where", async () => {
    const rules: [object, unknown, string][] = [
      [{ pattern: "^b$" }, "a", "the document must match the pattern ^b$"],
      [{ enum: ["a", 1] }, "b", 'the document must be one of "a", 1'],
      [{ const: { a: 1 } }, "b", 'the document must be {"a":1}'],
      [{ maximum: 3 }, 4, "the document must be 3 or less"],
      [{ minLength: 2 }, "a", "the document must have at least 2 characters but has 1"],
      [{ type: ["string", "null"] }, 1, "the document must be a string or null but is a number"],
      [{ required: ["a"] }, {}, 'the document lacks the required property "a"; add it'],
      [{ dependentRequired: { a: ["b"] } }, { a: 1 }, "the document lacks the required property"],
      [{ properties: { key: true }, additionalProperties: false }, { kay: 1 }, 'mean "key"?'],
      [{ unevaluatedProperties: false }, { a: 1 }, "remove it; allowed here: nothing"],
      [{ not: { type: "string" } }, "a", `the document does not follow the schema's rule "not"`],
      [{ properties: { a: false } }, { a: 1 }, "a is not allowed here"],
      [
        { $defs: { a: { $id: "part@1", maximum: 1 } }, $ref: "part@1" },
        2,
        "the document must be 1 or less",
      ],
    ];
    const files = rules.map(([schema], at) => ({ ...schema, $id: `dev/rule@${at}` }));
    const folder = project(Object.fromEntries(files.map((file, at) => [`${at}.json`, file])));
    for (const [at, [, document, message]] of rules.entries()) {
      const found = await check(folder, `dev/rule@${at}`, JSON.stringify(document));
      expect(found.map((finding) => finding.message)).toEqual([expect.stringContaining(message)]);
    }
  });

  it("[SCHEMA-1] [SCHEMA-21] treats format as an annotation, unless a dialect of the folder checks it", async () => {
    const vocabulary = "https://json-schema.org/draft/2020-12/vocab";
    const folder = project({
      "note.json": { ...rule, format: "uuid" },
      "strict.json": {
        $id: "dev/strict@1",
        $schema: "https://team.example/strict",
        format: "uuid",
      },
      "dialect.json": {
        $id: "https://team.example/strict",
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $ref: "https://json-schema.org/draft/2020-12/schema",
        $vocabulary: {
          [`${vocabulary}/core`]: true,
          [`${vocabulary}/validation`]: true,
          [`${vocabulary}/format-assertion`]: true,
        },
      },
    });
    expect(await check(folder, rule.$id, '"x"')).toEqual([]);
    expect(await check(folder, "dev/strict@1", '"x"')).toMatchObject([{ code: "format_mismatch" }]);
  });

  it("[SCHEMA-1] is identified by its exact id, also if the id is an address", async () => {
    const folder = project({
      "name.json": { $id: "dev/name@1", type: "string" },
      "deep.json": { $id: "team/deep@1", $ref: "dev/name@1" },
      "far.json": { $id: "https://team.example/far", $ref: "dev/name@1" },
    });
    for (const id of ["team/deep@1", "https://team.example/far"]) {
      expect(await check(folder, id, "1")).toMatchObject([{ code: "wrong_type" }]);
      expect(await check(folder, id, '"Ada"')).toEqual([]);
    }
  });

  it("[SCHEMA-3] is never fetched: a reference to http, https or file is an unknown schema", async () => {
    const requests: string[] = [];
    let connections = 0;
    const server = createServer(({ url = "" }, response) => {
      requests.push(url);
      response.end('{"$schema":"https://json-schema.org/draft/2020-12/schema"}');
    });
    server.on("connection", () => (connections += 1));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const references = [
      `http://127.0.0.1:${port}/a.schema.json`,
      `https://127.0.0.1:${port}/a.schema.json`,
      new URL("projects.schema.json", import.meta.url).href,
      "https://json-schema.org/draft/2020-12/none",
    ];
    const files = references.map(($ref, at) => [`${at}.json`, { $id: `dev/rule@${at}`, $ref }]);
    const folder = project({ ...Object.fromEntries(files), "ok.json": { $id: "dev/ok@1" } });
    for (const at of references.keys()) {
      await expect(check(folder, `dev/rule@${at}`, "1")).rejects.toMatchObject({
        code: "schema_invalid",
        message: expect.stringContaining("leads to no known schema"),
      });
      expect(await check(folder, "dev/ok@1", "1")).toEqual([]);
    }
    // the server does answer
    expect((await fetch(`http://127.0.0.1:${port}/real`)).status).toBe(200);
    server.close();
    expect([requests, connections]).toEqual([["/real"], 1]);
  });
});

it("[SCHEMA-7] no thread is started before a project's schema is used", async () => {
  let threads = 0;
  const count = (): void => {
    threads += 1;
  };
  process.on("worker", count);
  const fresh = createWorkerPool();
  const folder = project({ "note.json": { ...rule, type: "object" } });
  const registry = await loadSchemas(folder, fresh);
  const validate = (text: string, id: string) =>
    validateWith({ text, syntax: "json" }, { id, registry });
  await validate("{}", "dev/phase-plan@1");
  await validate("{}", "dev/spec@1");
  expect([registry.ids.has(rule.$id), threads]).toEqual([true, 0]);
  expect((await validate("{}", rule.$id)).valid).toBe(true);
  expect((await validate("1", rule.$id)).valid).toBe(false);
  expect(threads).toBe(1);
  process.off("worker", count);
  await fresh.close();
});

describe("a check that does not end", () => {
  // the limit of 2 s is in the test of the command line
  const brief = createWorkerPool({ checkMs: 200 });
  afterAll(() => brief.close());

  it("[SCHEMA-4] is stopped; the finding names the schema, and the next check works", async () => {
    const folder = project({ "slow.json": SLOW_SCHEMA });
    expect(await check(folder, SLOW_SCHEMA.$id, SLOW_TEXT, brief)).toEqual([
      {
        code: "check_stopped",
        severity: "error",
        pointer: "",
        line: 1,
        column: 1,
        message:
          'checking this against the schema "team/slow@1" (.reprise/schemas/slow.json) took longer than 0.2 s and was stopped; simplify its patterns, or shorten the document',
      },
    ]);
    expect(await check(folder, SLOW_SCHEMA.$id, '"a b c"', brief)).toEqual([]);
  });

  it("[SCHEMA-5] allows one more check in parallel, and refuses the third", async () => {
    const folder = project({ "slow.json": SLOW_SCHEMA });
    const registry = await loadSchemas(folder, brief);
    const order = { id: SLOW_SCHEMA.$id, registry };
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => validateWith({ text: SLOW_TEXT, syntax: "json" }, order)),
    );
    const codes = outcomes.map((outcome) =>
      outcome.status === "fulfilled"
        ? `${outcome.value.findings[0]?.code}`
        : String(outcome.reason.code),
    );
    expect(codes.sort()).toEqual(["check_stopped", "check_stopped", "schema_checks_busy"]);
  });
});
