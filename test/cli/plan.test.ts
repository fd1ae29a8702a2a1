import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../src/artifacts/finding.ts";
import { PLAN_CASES, plan } from "../artifacts/plan-cases.ts";
import { run } from "./plan-program.ts";

interface Answer {
  valid: boolean;
  files: { file: string; valid: boolean; findings: Finding[] }[];
}

const PLANS = fileURLToPath(new URL("../fixtures/plans", import.meta.url));

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "reprise-plan-"));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function save(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(directory, name), content);
  return name;
}

async function validateJson(...files: string[]): Promise<Answer & { code: number | null }> {
  const { stdout, code } = await run(["plan", "validate", "--json", ...files], { cwd: directory });
  const answer: Answer = JSON.parse(stdout);
  return { ...answer, code };
}

/** The findings of each text in a file of its own: "code line:column". */
async function placesIn(texts: readonly string[], extension = "json"): Promise<string[]> {
  const names = texts.map((text, index) => save(`text-${index}.${extension}`, text));
  const { files } = await validateJson(...(await Promise.all(names)));
  return files.map(({ findings }) =>
    findings.map(({ code, line, column }) => `${code} ${line}:${column}`).join(" "),
  );
}

describe("plan validate, every rule at its border", () => {
  let answer: Answer & { code: number | null };

  beforeAll(async () => {
    const names = PLAN_CASES.map(({ document }, index) =>
      save(`case-${index}.json`, JSON.stringify(document, null, 2)),
    );
    answer = await validateJson(...(await Promise.all(names)));
  });

  it.each(PLAN_CASES.map((planCase, index) => ({ ...planCase, index })))(
    "$name",
    ({ found, index }) => {
      const report = answer.files[index]!;
      expect(report.findings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(found);
      expect(report.valid).toBe(found.length === 0);
    },
  );

  it("answers for every file and says no when one has a fault", () => {
    expect(answer.files).toHaveLength(PLAN_CASES.length);
    expect([answer.valid, answer.code]).toEqual([false, 1]);
  });
});

describe("plan validate, for people", () => {
  it("says that a plan is valid, in JSON and in YAML", async () => {
    const outcome = await run(["plan", "validate", "valid.json", "valid.yaml"], { cwd: PLANS });
    expect(outcome).toEqual({
      code: 0,
      stdout: "valid.json: valid, 3 phases\nvalid.yaml: valid, 2 phases\n",
      stderr: "",
    });
  });

  it("says every fault in the order of the file, in sentences", async () => {
    const { code, stdout } = await run(["plan", "validate", "faulty.json"], { cwd: PLANS });
    expect(code).toBe(1);
    expect(stdout.split("\n")).toEqual([
      "faulty.json:2:12 error runId must be a UUID, like 123e4567-e89b-42d3-a456-426614174000 [format_mismatch]",
      "faulty.json:3:15 error phaseKey must not be empty [too_short]",
      "faulty.json:9:23 error instructions must have at least 10 characters but has 9 [too_short]",
      'faulty.json:14:7 error the property "key" already stands on line 13 of the same object; remove one [duplicate_property]',
      'faulty.json:18:7 error the property "depend_on" is unknown; did you mean "depends_on"? [unknown_property]',
      'faulty.json:19:22 error depends_on names the unknown phase "desing"; did you mean "design"? [unknown_dependency]',
      'faulty.json:19:32 error the phase "build" depends on itself; remove this entry [self_dependency]',
      'faulty.json:19:41 error depends_on leads round in a circle, "design" -> "review" -> "build" -> "design"; remove one of these dependencies [circular_dependency]',
      'faulty.json:21:5 error phases[2] lacks the required property "role"; add it [missing_property]',
      'faulty.json:28:14 error the key "design" is already the key of the phase on line 6; give this phase another [duplicate_key]',
      "faulty.json:34:31 error estimated_duration_hours must be 0 or more [below_minimum]",
      "faulty.json: 11 errors",
      "",
    ]);
  });

  it("does not pretend to have counted what it cut off", async () => {
    const name = await save("many.json", JSON.stringify(plan({ phases: Array(10_001).fill(0) })));
    const { stdout } = await run(["plan", "validate", name], { cwd: directory });
    const last = stdout.trimEnd().split("\n").slice(-2);
    expect(last[0]).toContain("[too_many_findings]");
    expect(last[1]).toBe("many.json: 10000 findings and more");
  });

  it("writes nothing that a terminal would act on", async () => {
    const name = await save("esc.json", JSON.stringify(plan({ "\u001b[2J\u009b\u202e": 1 })));
    const { stdout } = await run(["plan", "validate", name], { cwd: directory });
    expect(stdout).toContain('"\\u001b[2J\\u009b\\u202e"');
  });
});

describe("plan validate, for programs", () => {
  it("gives each finding its whole record", async () => {
    const { files } = await validateJson(join(PLANS, "faulty.json"));
    const found = new Map(files[0]!.findings.map((finding) => [finding.code, finding]));
    expect(found.get("unknown_dependency")).toEqual({
      code: "unknown_dependency",
      severity: "error",
      pointer: "/phases/1/depends_on/0",
      line: 19,
      column: 22,
      message: 'depends_on names the unknown phase "desing"; did you mean "design"?',
      suggestion: "design",
    });
    expect(found.get("circular_dependency")?.path).toEqual(["design", "review", "build", "design"]);
    expect(found.get("duplicate_key")?.first_line).toBe(6);
    expect(found.get("duplicate_property")?.pointer).toBe("/phases/1/key");
  });

  it("answers valid with exit code 0", async () => {
    const { code, ...answer } = await validateJson(join(PLANS, "valid.json"));
    expect(code).toBe(0);
    expect(answer).toEqual({
      valid: true,
      files: [{ file: join(PLANS, "valid.json"), valid: true, findings: [] }],
    });
  });
});

describe("plan validate, what it reads", () => {
  it("reads - from standard input", async () => {
    const good = await run(["plan", "validate", "-"], { stdin: JSON.stringify(plan()) });
    expect(good).toMatchObject({ code: 0, stdout: "-: valid, 1 phase\n" });
    const bad = await run(["plan", "validate", "-"], { stdin: "{" });
    expect(bad).toMatchObject({ code: 1, stderr: "" });
    expect(bad.stdout).toContain("-:1:2 error the file ends before the closing }");
  });

  it("refuses - twice and no file at all as wrong usage", async () => {
    expect(await run(["plan", "validate", "-", "-"])).toMatchObject({ code: 2, stdout: "" });
    expect(await run(["plan", "validate"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("reports a missing file and a directory, and still every other", async () => {
    const good = await save("good.json", JSON.stringify(plan()));
    const { code, files } = await validateJson("missing.json", ".", good);
    expect(code).toBe(1);
    expect(files.map(({ valid, findings }) => [valid, findings[0]?.code])).toEqual([
      [false, "file_unreadable"],
      [false, "file_unreadable"],
      [true, undefined],
    ]);
  });

  it("takes 10 MiB and not a byte more", async () => {
    const text = JSON.stringify(plan());
    const most = await save("most.json", text.padEnd(10 * 1024 * 1024, " "));
    const more = await save("more.json", text.padEnd(10 * 1024 * 1024 + 1, " "));
    const { files } = await validateJson(most, more);
    expect(files.map(({ findings }) => findings.map(({ code }) => code))).toEqual([
      [],
      ["file_too_large"],
    ]);
  });

  it("names the first byte that is not UTF-8, and takes a byte order mark", async () => {
    const latin = await save("latin.json", Buffer.from('{\n "ä": "\u00e4"}', "latin1"));
    const cut = await save("cut.json", Buffer.from('{"ä').subarray(0, 3));
    const marked = await save("marked.json", `\ufeff${JSON.stringify(plan())}`);
    const { files } = await validateJson(latin, cut, marked);
    expect(files[0]?.findings).toMatchObject([{ code: "not_utf8", line: 2, column: 3 }]);
    expect(files[1]?.findings).toMatchObject([{ code: "not_utf8", line: 1, column: 3 }]);
    expect(files[2]?.valid).toBe(true);
  });

  it("holds a .json file to strict JSON, each fault with its place", async () => {
    const texts = ['{"a":1,\n}', "{'a':1}", "// no\n{}", '{"a":1} 2', "", '["a\nb"]', "[01]"];
    expect(await placesIn(texts)).toEqual([
      "malformed_json 1:7",
      "malformed_json 1:2",
      "malformed_json 1:1",
      "malformed_json 1:9",
      "malformed_json 1:1",
      "malformed_json 1:2",
      "malformed_json 1:2",
    ]);
  });

  it("holds YAML to what JSON can say", async () => {
    const texts = ["a: [1", "a: &x 1\nb: *x", "a: !t x", "a: 1\n---\nb: 2", "# only this"];
    expect(await placesIn(texts, "yaml")).toEqual([
      "malformed_yaml 1:6",
      "malformed_yaml 2:4",
      "malformed_yaml 1:4",
      "malformed_yaml 2:1",
      "malformed_yaml 1:1",
    ]);
  });

  it("places the faults of a YAML plan", async () => {
    const text = [
      "runId: 7",
      "phaseKey: planning",
      "phases:",
      "  - {key: a, title: A, role: r, instructions: 0123456789x, depends_on: [b]}",
      "  - key: a",
      "    key: a",
    ];
    expect(await placesIn([text.join("\n")], "yml")).toEqual([
      [
        "wrong_type 1:8",
        "unknown_dependency 4:73",
        "missing_property 5:5",
        "missing_property 5:5",
        "missing_property 5:5",
        "duplicate_property 6:5",
        "duplicate_key 6:10",
      ].join(" "),
    ]);
  });

  it("takes 64 levels in JSON and YAML and refuses 10,000 without a crash", async () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    const texts = [nested(64), nested(65), nested(10_000)];
    const found = ["wrong_type 1:1", "too_deep 1:65", "too_deep 1:65"];
    expect(await placesIn(texts)).toEqual(found);
    expect(await placesIn(texts, "yaml")).toEqual(found);
  });
});

it("loads the validator and the YAML reader only to validate", async () => {
  const preload = fileURLToPath(new URL("../fixtures/programs/loaded-modules.ts", import.meta.url));
  const node = ["--import", preload];
  const help = await run(["plan", "--help"], { node });
  const printed = await run(["schema", "dev/phase-plan@1"], { node });
  const validated = await run(["plan", "validate", join(PLANS, "valid.json")], { node });
  const heavy = /node_modules\/(ajv|ajv-formats|yaml)\//;
  expect([help, printed, validated].map(({ stderr }) => heavy.test(stderr))).toEqual([
    false,
    false,
    true,
  ]);
});
