import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../src/artifacts/finding.ts";
import { lineOf, planCase, writePlanCases } from "../helpers/artifacts/plan-cases.ts";
import { phase, plan, RUN_ID } from "../helpers/artifacts/plans.ts";
import { call, run } from "../helpers/plan-program.ts";

interface Answer {
  valid: boolean;
  files: { file: string; valid: boolean; findings: Finding[] }[];
}

/** The plan cases that these tests use, as files. */
const CASES = [
  "valid.json",
  "valid.yaml",
  "faulty.json",
  "root-array.json",
  "role-unknown.json",
  "text-yaml-faults.yml",
];

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "reprise-plan-"));
  writePlanCases(directory, ...CASES);
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function save(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(directory, name), content);
  return name;
}

async function validateJson(...files: string[]): Promise<Answer & { code: number | null }> {
  const { stdout, code } = await call(["plan", "validate", "--json", ...files], { cwd: directory });
  const answer: Answer = JSON.parse(stdout);
  return { ...answer, code };
}

describe("plan validate, for people", () => {
  it("[PLAN-9] says that a plan is valid, in JSON and in YAML", async () => {
    const outcome = await call(["plan", "validate", "valid.json", "valid.yaml"], {
      cwd: directory,
    });
    expect(outcome).toEqual({
      code: 0,
      stdout: "valid.json: valid, 3 phases\nvalid.yaml: valid, 2 phases\n",
      stderr: "",
    });
  });

  it("[PLAN-3] reports every error in the order of the file, in sentences", async () => {
    const { code, stdout } = await call(["plan", "validate", "faulty.json"], { cwd: directory });
    expect(code).toBe(1);
    expect(stdout.split("\n")).toEqual([
      "faulty.json:2:12 error runId must be a UUID, like 123e4567-e89b-42d3-a456-426614174000 [format_mismatch]",
      "faulty.json:3:15 error phaseKey must not be empty [too_short]",
      'faulty.json:8:15 warning no persona has the role "architect"; make one in .reprise/personas/, or use an existing one [unknown_role]',
      "faulty.json:9:23 error instructions must have at least 10 characters but has 9 [too_short]",
      'faulty.json:14:7 error the property "key" is already on line 13 of the same object; remove one [duplicate_property]',
      'faulty.json:16:15 warning no persona has the role "developer"; make one in .reprise/personas/, or use an existing one [unknown_role]',
      'faulty.json:18:7 error the property "depend_on" is unknown; did you mean "depends_on"? [unknown_property]',
      'faulty.json:19:22 error depends_on names the unknown phase "desing"; did you mean "design"? [unknown_dependency]',
      'faulty.json:19:32 error the phase "build" depends on itself; remove this entry [self_dependency]',
      'faulty.json:21:5 error phases[2] lacks the required property "role"; add it [missing_property]',
      'faulty.json:25:22 error depends_on forms a cycle, "build" -> "design" -> "review" -> "build"; remove one of these dependencies [circular_dependency]',
      'faulty.json:28:14 error the key "design" is already the key of the phase on line 6; give this phase another [duplicate_key]',
      'faulty.json:30:15 warning no persona has the role "architect"; make one in .reprise/personas/, or use an existing one [unknown_role]',
      "faulty.json:34:31 error estimated_duration_hours must be 0 or more [below_minimum]",
      "faulty.json: 11 errors, 3 warnings",
      "",
    ]);
  });

  it("does not count what it cut off", async () => {
    const name = await save("many.json", JSON.stringify(plan({ phases: Array(10_001).fill(0) })));
    const { stdout } = await call(["plan", "validate", name], { cwd: directory });
    const last = stdout.trimEnd().split("\n").slice(-2);
    expect(last[0]).toContain("[too_many_findings]");
    expect(last[1]).toBe("many.json: 10000 findings and more");
  });

  it("[PLAN-3] [PLAN-56] prints nothing that a terminal would act on", async () => {
    const name = await save("esc.json", JSON.stringify(plan({ "\u001b[2J\u009b\u202e": 1 })));
    const { stdout } = await call(["plan", "validate", name], { cwd: directory });
    expect(stdout).toContain('"␛[2J<U+009B><U+202E>"');
  });
});

describe("plan validate, for programs", () => {
  it("[PLAN-3] [PLAN-9] [PLAN-55] [PLAN-67] gives each finding with all its fields", async () => {
    const { files } = await validateJson(join(directory, "faulty.json"));
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
    expect(found.get("circular_dependency")?.path).toEqual(["build", "design", "review", "build"]);
    expect(found.get("duplicate_key")?.first_line).toBe(6);
    expect(found.get("duplicate_property")?.pointer).toBe("/phases/1/key");
  });

  it("[PLAN-2] [PLAN-9] lists the findings of each file, JSON and YAML, in the order given", async () => {
    const { valid, code, files } = await validateJson(...CASES);
    expect(files.map(({ file, findings }) => [file, ...findings.map(lineOf)])).toEqual(
      CASES.map((file) => [file, ...planCase(file).findings]),
    );
    expect([valid, code]).toEqual([false, 1]);
  });

  it("[PLAN-9] [PLAN-64] answers valid with exit code 0", async () => {
    const { code, ...answer } = await validateJson(join(directory, "valid.json"));
    expect(code).toBe(0);
    expect(answer).toEqual({
      valid: true,
      files: [{ file: join(directory, "valid.json"), valid: true, findings: [] }],
    });
  });
});

describe("plan validate, what it reads", () => {
  it("[PLAN-9] [PLAN-65] reads - from standard input", async () => {
    const good = await run(["plan", "validate", "-"], { stdin: JSON.stringify(plan()) });
    expect(good).toMatchObject({ code: 0, stdout: "-: valid, 1 phase\n" });
    const bad = await call(["plan", "validate", "-"], { stdin: "{" });
    expect(bad).toMatchObject({ code: 1, stderr: "" });
    expect(bad.stdout).toContain("-:1:2 error the file ends before the closing }");
  });

  it("[PLAN-9] [PLAN-65] reads YAML from standard input and JSON from a named pipe", async () => {
    const stdin = "runId: x\nphaseKey: p\nphases: []\n";
    const yaml = await call(["plan", "validate", "-"], { stdin });
    expect(yaml.stdout).toContain("-:1:8 error runId must be a UUID");
    execFileSync("mkfifo", [join(directory, "named")]);
    await save("big.json", JSON.stringify(plan()).padEnd(300_000, " "));
    // open for both ways, so that it has a writer at once
    const writer = spawn("sh", ["-c", "exec 3<>named; echo; cat big.json >&3"], { cwd: directory });
    await once(writer.stdout, "data");
    const piped = await call(["plan", "validate", "named"], { cwd: directory });
    expect(piped.stdout).toBe("named: valid, 1 phase\n");
  });

  it("[PLAN-9] [PLAN-66] refuses a pipe without a writer, a device and a socket", async () => {
    execFileSync("mkfifo", [join(directory, "quiet")]);
    const server = createServer().listen(join(directory, "socket"));
    await once(server, "listening");
    const { code, files } = await validateJson("quiet", "/dev/zero", "socket");
    server.close();
    expect(code).toBe(1);
    expect(files.map(({ findings }) => findings.map(({ message }) => message))).toEqual([
      ["nothing is written to this pipe; start what writes to it first"],
      ["this is a device or a socket; name a file or a pipe"],
      ["this is a device or a socket; name a file or a pipe"],
    ]);
  });

  it("[PLAN-9] [PLAN-64] refuses - twice and no file at all as wrong usage", async () => {
    expect(await call(["plan", "validate", "-", "-"])).toMatchObject({ code: 2, stdout: "" });
    expect(await call(["plan", "validate"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("[PLAN-9] [PLAN-64] reports a missing file and a directory, and still checks every other file", async () => {
    const good = await save("good.json", JSON.stringify(plan()));
    const { code, files } = await validateJson("missing.json", ".", good);
    expect(code).toBe(1);
    expect(files.map(({ valid, findings }) => [valid, findings[0]?.code])).toEqual([
      [false, "file_unreadable"],
      [false, "file_unreadable"],
      [true, undefined],
    ]);
  });

  it("[PLAN-5] accepts 10 MiB and not a byte more", async () => {
    const text = JSON.stringify(plan());
    const most = await save("most.json", text.padEnd(10 * 1024 * 1024, " "));
    const more = await save("more.json", text.padEnd(10 * 1024 * 1024 + 1, " "));
    const { files } = await validateJson(most, more);
    expect(files.map(({ findings }) => findings.map(({ code }) => code))).toEqual([
      [],
      ["file_too_large"],
    ]);
  });

  it("[PLAN-5] names the first byte that is not UTF-8, and accepts a byte order mark", async () => {
    const latin = await save("latin.json", Buffer.from('{\n "ä": "\u00e4"}', "latin1"));
    const cut = await save("cut.json", Buffer.from('{"ä').subarray(0, 3));
    const marked = await save("marked.json", `\ufeff${JSON.stringify(plan())}`);
    const { files } = await validateJson(latin, cut, marked);
    expect(files[0]?.findings).toMatchObject([{ code: "not_utf8", line: 2, column: 3 }]);
    expect(files[1]?.findings).toMatchObject([{ code: "not_utf8", line: 1, column: 3 }]);
    expect(files[2]?.valid).toBe(true);
  });
});

describe("plan validate --spec", () => {
  const OTHER = "00000000-0000-4000-8000-000000000000";

  it("[PLAN-10] accepts plans of the specification's run, in either case, and says what it checks", async () => {
    const spec = await save("spec.json", JSON.stringify({ runId: RUN_ID.toUpperCase(), any: 1 }));
    const good = await save("mine.json", JSON.stringify(plan()));
    const { code, stdout } = await call(["plan", "validate", "--spec", spec, good], {
      cwd: directory,
    });
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "spec.json:1:1 warning the schema dev/spec@1 was never published, so only its syntax and runId are checked [schema_unpublished]",
      "spec.json: valid, 1 warning",
      "mine.json: valid, 1 phase",
      "",
    ]);
  });

  it("[PLAN-10] finds a plan of another run, and accepts YAML", async () => {
    const spec = await save("spec.yaml", `runId: ${OTHER}\n`);
    const mine = await save("mine.json", JSON.stringify(plan(), null, 1));
    const { stdout, code } = await call(["plan", "validate", "--json", "--spec", spec, mine], {
      cwd: directory,
    });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      spec: { file: "spec.yaml", valid: true, run_id: OTHER },
      files: [
        {
          valid: false,
          findings: [
            { code: "run_id_mismatch", pointer: "/runId", line: 2, column: 11, suggestion: OTHER },
          ],
        },
      ],
    });
  });

  it("[PLAN-10] fails if the specification itself has no run or cannot be read", async () => {
    const mine = await save("mine.json", JSON.stringify(plan()));
    const none = await save("none.json", "{}");
    for (const [spec, found] of [
      [none, "missing_property"],
      ["nowhere.json", "file_unreadable"],
    ]) {
      const args = ["plan", "validate", "--json", "--spec", spec!, mine];
      const { stdout, code } = await call(args, { cwd: directory });
      const answer = JSON.parse(stdout);
      expect([code, answer.valid, answer.files[0].valid]).toEqual([1, false, true]);
      expect(answer.spec.findings[0].code).toBe(found);
      expect(answer.spec.run_id).toBeNull();
    }
  });
});

describe("plan validate --format", () => {
  it("[PLAN-11] github: prints a command for each finding, and none that a file's name could inject", async () => {
    const name = await save("a,b:%\n::warning::x.json", JSON.stringify(plan({ runId: "x" })));
    const { code, stdout } = await call(["plan", "validate", "--format", "github", name], {
      cwd: directory,
    });
    expect(code).toBe(1);
    expect(stdout).toBe(
      "::error file=a%2Cb%3A%25%0A%3A%3Awarning%3A%3Ax.json,line=1,col=10,title=format_mismatch::runId must be a UUID, like 123e4567-e89b-42d3-a456-426614174000\n0 of 1 valid\n",
    );
  });

  it("[PLAN-11] [PLAN-68] sarif: prints a log of one run with place, level and rule of each finding", async () => {
    const args = ["plan", "validate", "--format", "sarif", "faulty.json", "valid.json"];
    const { code, stdout } = await call(args, { cwd: directory });
    expect(code).toBe(1);
    const log = JSON.parse(stdout);
    expect(log).toMatchObject({ version: "2.1.0", runs: [{ columnKind: "utf16CodeUnits" }] });
    const { tool, results } = log.runs[0];
    const rules = new Set(tool.driver.rules.map(({ id }: { id: string }) => id));
    expect(results).toHaveLength(14);
    for (const { ruleId, level } of results) {
      expect(rules).toContain(ruleId);
      expect(["error", "warning"]).toContain(level);
    }
    expect(results[0]).toEqual({
      ruleId: "format_mismatch",
      level: "error",
      message: { text: "runId must be a UUID, like 123e4567-e89b-42d3-a456-426614174000" },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "faulty.json" },
            region: { startLine: 2, startColumn: 12 },
          },
          logicalLocations: [{ fullyQualifiedName: "/runId" }],
        },
      ],
    });
  });

  it("[PLAN-11] refuses another format, and two of them", async () => {
    for (const args of [
      ["--format", "xml"],
      ["--json", "--format", "sarif"],
    ]) {
      const outcome = await call(["plan", "validate", ...args, "valid.json"], { cwd: directory });
      expect(outcome).toMatchObject({ code: 2, stdout: "" });
    }
    const json = await call(["plan", "validate", "--format", "json", "valid.json"], {
      cwd: directory,
    });
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: true });
  });
});

describe("the names in a plan", () => {
  it("[PLAN-16] may be a persona and a schema of this folder", async () => {
    const folder = join(directory, "project");
    await mkdir(join(folder, ".reprise/personas"), { recursive: true });
    await mkdir(join(folder, ".reprise/schemas"));
    const artifact = { path: "a", schema: "team/note@1" };
    const document = plan({
      phases: [phase({ role: "architect", expected_artifact: artifact })],
    });
    await writeFile(join(folder, "plan.json"), JSON.stringify(document));
    const before = await call(["plan", "validate", "--json", "plan.json"], { cwd: folder });
    const [file] = (JSON.parse(before.stdout) as Answer).files;
    expect(before.code).toBe(0);
    expect(file?.findings.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "warning unknown_role",
      "warning unknown_schema",
    ]);
    const persona = "---\nname: architect\ndescription: draws\n---\nYou draw.\n";
    await writeFile(join(folder, ".reprise/personas/architect.md"), persona);
    await writeFile(join(folder, ".reprise/schemas/note.json"), '{"$id": "team/note@1"}');
    const after = await call(["plan", "validate", "plan.json"], { cwd: folder });
    expect(after).toEqual({ code: 0, stdout: "plan.json: valid, 1 phase\n", stderr: "" });
  });

  it("[SCHEMA-2] [SCHEMA-22] a broken schema of the folder blocks no plan that does not use it", async () => {
    const folder = join(directory, "broken");
    await mkdir(join(folder, ".reprise/schemas"), { recursive: true });
    await writeFile(join(folder, ".reprise/schemas/a.json"), '{"$id": "a@1", "type": "text"}');
    await writeFile(join(folder, ".reprise/schemas/cut.json"), "{");
    const stdin = JSON.stringify(plan());
    for (const args of [
      ["plan", "validate", "-"],
      ["plan", "show", "-"],
      ["plan", "graph", "-"],
    ]) {
      expect(await call(args, { cwd: folder, stdin })).toMatchObject({ code: 0, stderr: "" });
    }
    const list = await call(["schema", "list"], { cwd: folder });
    expect(list.code).toBe(0);
    expect(list.stdout).toMatch(/^a@1 \(broken: The schema file \.reprise\/schemas\/a\.json is /m);
    expect(list.stdout).toMatch(/^\(no id\) \(broken: .*cut\.json:1 is not valid/m);
    const spec = await call(["schema", "validate", "-", "--schema", "a@1"], { cwd: folder, stdin });
    expect(spec).toMatchObject({ code: 1, stdout: "" });
    expect(spec.stderr).toMatch(/a\.json is not a valid .* \[schema_invalid\]\n$/);
  });
});

describe("plan show", () => {
  it("[PLAN-12] shows waves, the longest chain, hours and artifacts", async () => {
    const outcome = await call(["plan", "show", "valid.json"], { cwd: directory });
    expect(outcome).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "3 phases in 3 waves, 12.5 hours",
        "run 0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01, planning",
        "",
        "Wave 1",
        "  design    planner    Design the store",
        "",
        "Wave 2",
        "  build     assistant  Build the store",
        "",
        "Wave 3",
        "  review-1  assistant  Review",
        "",
        "Longest chain, 3 phases",
        "  design -> build -> review-1",
        "",
        "Artifacts",
        "  docs/store.md  dev/spec@1                  design",
        "  review.json    dev/review-finding-batch@1  review-1",
        "",
      ].join("\n"),
    });
  });

  it("[PLAN-12] shows which phases run in parallel, and leaves out what the plan does not have", async () => {
    const phases = [phase({ key: "a" }), phase({ key: "b", title: "\u001b[2J" })];
    const { stdout } = await call(["plan", "show", "-"], {
      stdin: JSON.stringify(plan({ phases })),
    });
    expect(stdout.split("\n").slice(2)).toEqual([
      "",
      "Wave 1, 2 in parallel",
      "  a  assistant  Build",
      "  b  assistant  ␛[2J",
      "",
    ]);
  });

  it("[PLAN-12] keeps the order of the plan inside a wave, and wraps the longest chain at 80 columns", async () => {
    const keys = Array.from({ length: 15 }, (_, at) => `task-${at + 1}`);
    const side = keys.map((key) => phase({ key }));
    const wide = await call(["plan", "show", "-"], {
      stdin: JSON.stringify(plan({ phases: side })),
    });
    expect(Array.from(wide.stdout.matchAll(/^ {2}(\S+)/gm), ([, key]) => key)).toEqual(keys);
    const chain = keys.map((key, at) =>
      phase({ key, ...(at === 0 ? {} : { depends_on: [`task-${at}`] }) }),
    );
    const long = await call(["plan", "show", "-"], {
      stdin: JSON.stringify(plan({ phases: chain })),
    });
    expect(long.stdout.split("\n").slice(-5)).toEqual([
      "Longest chain, 15 phases",
      "  task-1 -> task-2 -> task-3 -> task-4 -> task-5 -> task-6 -> task-7 ->",
      "  task-8 -> task-9 -> task-10 -> task-11 -> task-12 -> task-13 -> task-14 ->",
      "  task-15",
      "",
    ]);
  });

  it("[PLAN-12] [PLAN-69] gives programs the same as JSON", async () => {
    const { stdout } = await call(["plan", "show", "--json", "valid.json"], { cwd: directory });
    expect(JSON.parse(stdout)).toMatchObject({
      estimated_duration_hours: 12.5,
      phases: 3,
      waves: [["design"], ["build"], ["review-1"]],
      longest_chain: ["design", "build", "review-1"],
      artifacts: [
        { phase: "design", path: "docs/store.md", schema: "dev/spec@1" },
        { phase: "review-1" },
      ],
    });
  });

  it("[PLAN-12] [PLAN-13] [PLAN-70] a plan with errors is refused with them, its warnings are notes", async () => {
    for (const command of ["show", "graph"]) {
      const refused = await call(["plan", command, "faulty.json"], { cwd: directory });
      expect([refused.code, refused.stdout]).toEqual([1, ""]);
      expect(refused.stderr).toContain("[plan_invalid]");
      expect(refused.stderr).toContain("/phaseKey: 3:15 error phaseKey must not be empty");
      const whole = await call(["plan", command, "root-array.json"], { cwd: directory });
      expect(whole.stderr).toMatch(/\n {2}1:1 error the document must be an object/);
      const warned = await call(["plan", command, "role-unknown.json"], { cwd: directory });
      expect(warned.code).toBe(0);
      expect(warned.stderr).toContain("[unknown_role]");
    }
  });
});

describe("a plan that cannot be read", () => {
  it.each(["show", "graph"])("[PLAN-53] is refused by plan %s with the reason", async (command) => {
    const { code, stdout, stderr } = await call(["plan", command, "nowhere.json"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "reprise: The plan cannot be read: there is no such file; check the path. [file_unreadable]\n",
    );
  });
});

describe("plan graph", () => {
  it("[PLAN-13] draws for Mermaid, for Graphviz and as a picture", async () => {
    const first = async (...args: string[]): Promise<string> => {
      const { stdout, code } = await call(["plan", "graph", ...args, "valid.json"], {
        cwd: directory,
      });
      expect(code).toBe(0);
      return stdout.split("\n")[0]!;
    };
    expect(await first()).toBe("flowchart LR");
    expect(await first("--format", "mermaid")).toBe("flowchart LR");
    expect(await first("--format", "dot")).toBe("digraph plan {");
    expect(await first("--format", "svg")).toMatch(/^<svg xmlns=/);
    expect((await call(["plan", "graph", "--format", "png", "x"])).code).toBe(2);
  });
});

describe("plan new", () => {
  it("[PLAN-14] prints a plan without a finding, each time of a new run", async () => {
    const [one, two] = [await call(["plan", "new"]), await call(["plan", "new"])];
    expect([one.code, one.stderr]).toEqual([0, ""]);
    expect(JSON.parse(one.stdout).runId).not.toBe(JSON.parse(two.stdout).runId);
    const checked = await call(["plan", "validate", "-"], { stdin: one.stdout });
    expect(checked).toEqual({ code: 0, stdout: "-: valid, 4 phases\n", stderr: "" });
  });

  it("[PLAN-28] warns of a Mermaid text with more edges than Mermaid draws", async () => {
    const wide = (edges: number): string => {
      const keys = Array.from({ length: edges }, (_, at) => `k${at}`);
      const last = phase({ key: "last", depends_on: keys });
      return JSON.stringify(plan({ phases: [...keys.map((key) => phase({ key })), last] }));
    };
    const most = await call(["plan", "graph", "-"], { stdin: wide(500) });
    expect(most).toMatchObject({ code: 0, stderr: "" });
    const more = await call(["plan", "graph", "-"], { stdin: wide(501) });
    expect([more.code, more.stdout.startsWith("flowchart")]).toEqual([0, true]);
    expect(more.stderr).toMatch(/501 edges.* \[too_many_edges\]\n$/);
    const svg = await call(["plan", "graph", "-", "--format", "svg"], { stdin: wide(501) });
    expect(svg.stderr).toBe("");
  });
});
