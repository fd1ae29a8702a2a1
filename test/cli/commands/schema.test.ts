import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { project, SLOW_SCHEMA, SLOW_TEXT } from "../../helpers/artifacts/projects.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { call, run } from "../../helpers/plan-program.ts";

it.each([[["schema", "dev/phase-plan@1"]], [["schema", "show", "dev/phase-plan@1"]]])(
  "[PLAN-1] [PLAN-15] %j prints the schema byte for byte",
  async (args) => {
    const file = new URL("../../../schemas/dev/phase-plan@1.json", import.meta.url);
    expect(await call(args)).toEqual({
      code: 0,
      stdout: await readFile(file, "utf8"),
      stderr: "",
    });
  },
);

it("[PLAN-15] [PLAN-73] refuses an unknown id and names the known ones, not the one asked for", async () => {
  const { code, stdout, stderr } = await call(["schema", "dev/phase-plan@2"]);
  expect([code, stdout]).toEqual([3, ""]);
  for (const id of ["dev/phase-plan@1", "dev/spec@1", "common/final-report@1"]) {
    expect(stderr).toContain(id);
  }
  expect(stderr).not.toContain("dev/phase-plan@2");
});

it.each(["dev/spec@1", "dev/review-finding-batch@1", "common/final-report@1"])(
  "[PLAN-8] says that %s is known and was never published",
  async (id) => {
    const { code, stdout, stderr } = await call(["schema", id]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("This id is known, but its fields were never published");
  },
);

it.each([[["schema"]], [["schema", "list"]]])("[PLAN-15] %j lists the known ids", async (args) => {
  const { code, stdout } = await call(args);
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
    "dev/phase-plan@1",
    "reprise/plan-checks@1",
    "dev/spec@1",
    "dev/review-finding-batch@1",
    "common/final-report@1",
    "",
  ]);
});

it("[PLAN-15] lists and prints the schemas of this folder, for programs too", async () => {
  const folder = temporaryFolder();
  const text = '{ "$id": "team/note@1", "title": "Note" }';
  mkdirSync(join(folder, ".reprise/schemas"), { recursive: true });
  writeFileSync(join(folder, ".reprise/schemas/note.json"), text);
  const list = await call(["schema", "list", "--json"], { cwd: folder });
  expect(JSON.parse(list.stdout).at(-1)).toEqual({
    id: "team/note@1",
    title: "Note",
    published: true,
    source: "project",
  });
  expect((await call(["schema"], { cwd: folder })).stdout).toMatch(
    /^team\/note@1 \(of this project\)$/m,
  );
  expect((await call(["schema", "show", "team/note@1"], { cwd: folder })).stdout).toBe(text);
});

it("[SCHEMA-8] checks files against a schema of this folder, JSON and YAML", async () => {
  const folder = project({ "note.json": { $id: "team/note@1", required: ["text"] } });
  writeFileSync(join(folder, "good.yaml"), "text: Hello\n");
  writeFileSync(join(folder, "bad.json"), "{}");
  const args = ["schema", "validate", "good.yaml", "bad.json", "--schema", "team/note@1"];
  const { code, stdout } = await call(args, { cwd: folder });
  expect([code, stdout.split("\n")]).toEqual([
    1,
    [
      "good.yaml: valid",
      'bad.json:1:1 error the document lacks the required property "text"; add it [missing_property]',
      "bad.json: 1 error",
      "",
    ],
  ]);
  const { stdout: json } = await call([...args, "--json"], { cwd: folder });
  expect(JSON.parse(json)).toMatchObject({
    schema: "team/note@1",
    valid: false,
    files: [{ file: "good.yaml", valid: true }, { findings: [{ code: "missing_property" }] }],
  });
});

it("[SCHEMA-8] checks a plan as `plan validate` does, and refuses an unknown id", async () => {
  const args = ["schema", "validate", "-", "--schema"];
  const plan = await call([...args, "dev/phase-plan@1"], { stdin: "{}" });
  expect([plan.code, plan.stdout]).toEqual([1, expect.stringContaining("[missing_property]")]);
  expect((await call([...args, "dev/none@1"], { stdin: "{}" })).code).toBe(3);
  expect((await call(["schema", "validate", "-"], { stdin: "{}" })).code).toBe(2);
  const twice = ["schema", "validate", "-", "-", "--schema", "dev/spec@1"];
  expect((await call(twice, { stdin: "{}" })).code).toBe(2);
});

it("[SCHEMA-4] stops a check that does not end after 2 s", async () => {
  const folder = project({ "slow.json": SLOW_SCHEMA });
  const args = ["schema", "validate", "-", "--schema", SLOW_SCHEMA.$id];
  const { code, stdout, stderr } = await run(args, { cwd: folder, stdin: SLOW_TEXT });
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout).toContain(
    'the schema "team/slow@1" (.reprise/schemas/slow.json) took longer than 2 s',
  );
});
