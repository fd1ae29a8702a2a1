import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createWorkerPool } from "../../../src/artifacts/project/worker-pool.ts";
import { loadSchemas, type SchemaRegistry } from "../../../src/artifacts/registry.ts";
import { validateWith } from "../../../src/artifacts/check-artifact.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { project } from "../../helpers/artifacts/projects.ts";

/** A checkout of the JSON Schema Test Suite; it is not part of this project. */
const SUITE = process.env["REPRISE_JSON_SCHEMA_SUITE"] ?? "";
const FILES_PER_PROJECT = 300;

interface Group {
  readonly description: string;
  readonly schema: boolean | { readonly $id?: string; readonly allOf?: unknown };
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

interface Case {
  readonly id: string;
  readonly name: string;
  readonly schema: object;
  readonly tests: Group["tests"];
}

it.skipIf(SUITE === "")(
  "[SCHEMA-1] judges every required test of draft 2020-12 correctly, and refuses four by name",
  async () => {
    const cases = readCases();
    const remotes = readRemotes();
    const found = { right: 0, wrong: [] as string[], refused: [] as string[] };
    await using pool = disposable(createWorkerPool());
    for (const batch of batches(cases)) {
      const files = [...remotes, ...batch.map(({ schema }) => schema)];
      const folder = project(Object.fromEntries(files.map((file, at) => [`${at}.json`, file])));
      const registry = await loadSchemas(folder, pool);
      for (const each of batch) {
        await judge(each, registry, found);
      }
    }
    console.log(
      `${found.right} right, ${found.wrong.length} wrong, ${found.refused.length} refused`,
    );
    expect(found.wrong).toEqual([]);
    expect(found.refused.map((name) => name.split(":")[0])).toEqual(Array(4).fill("ref.json"));
    expect(found.right).toBeGreaterThan(1200);
  },
);

type Found = { right: number; readonly wrong: string[]; readonly refused: string[] };

async function judge(each: Case, registry: SchemaRegistry, found: Found): Promise<void> {
  for (const { description, data, valid } of each.tests) {
    const name = `${each.name}, ${description}`;
    const artifact = { text: JSON.stringify(data), syntax: "json" } as const;
    try {
      const report = await validateWith(artifact, { id: each.id, registry });
      if (report.valid === valid && report.findings.every(({ code }) => code !== "check_stopped")) {
        found.right += 1;
      } else {
        found.wrong.push(name);
      }
    } catch (error) {
      // a schema whose id names a file is a broken file, so its id is not known
      if (!isRepriseError(error, "schema_unknown", "schema_invalid")) {
        throw error;
      }
      found.refused.push(name);
    }
  }
}

function readCases(): Case[] {
  const folder = join(SUITE, "tests/draft2020-12");
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.flatMap((name) =>
    groupsIn(join(folder, name)).map(({ description, schema, tests }, index) => {
      // a file holds an object with an id
      const object = typeof schema === "boolean" ? { allOf: [schema] } : schema;
      const { $id: own }: Exclude<Group["schema"], boolean> = object;
      const id = typeof own === "string" ? own : `suite/${name}/${index}`;
      return { id, name: `${name}: ${description}`, schema: { ...object, $id: id }, tests };
    }),
  );
}

/** Schemas that the tests refer to, each under the address at which the suite serves it. */
function readRemotes(): object[] {
  const folder = join(SUITE, "remotes");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".json") && !/^(?:draft(?!2020-12)|v1)/.test(path))
    .map((path) => ({
      ...JSON.parse(readFileSync(join(folder, path), "utf8")),
      $id: `http://localhost:1234/${path}`,
    }));
}

function groupsIn(path: string): Group[] {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** In one folder each id is there once. */
function batches(cases: readonly Case[]): Case[][] {
  const batch: Case[][] = [];
  for (const each of cases) {
    const free = batch.find(
      (others) => others.length < FILES_PER_PROJECT && others.every(({ id }) => id !== each.id),
    );
    if (free === undefined) {
      batch.push([each]);
    } else {
      free.push(each);
    }
  }
  return batch;
}

function disposable(pool: ReturnType<typeof createWorkerPool>) {
  return { ...pool, [Symbol.asyncDispose]: pool.close };
}
