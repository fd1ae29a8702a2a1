import { expect, it } from "vitest";

import type { Finding } from "../../../src/artifacts/finding.ts";
import { pathProblem } from "../../../src/artifacts/plans/plan-warnings.ts";
import { validatePlan } from "../../../src/artifacts/plans/validate-plan.ts";
import { CONTROL_FILES } from "../../../src/core/files/control-file-table.ts";
import { phase, plan, planSchema } from "../../helpers/artifacts/plans.ts";

const schema = planSchema();

function found(phases: readonly object[], known = {}): readonly Finding[] {
  const text = JSON.stringify(plan({ phases }));
  const report = validatePlan(text, { syntax: "json", schema, known });
  expect(report.valid).toBe(true);
  return report.findings;
}

const spellings = (findings: readonly Finding[]): string[] =>
  findings.map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);

const writes = (path: string) => ({ expected_artifact: { path, schema: "dev/spec@1" } });

it.each([
  ["/etc/passwd", "artifact_path_absolute"],
  ["C:\\notes.json", "artifact_path_absolute"],
  ["\\\\host\\notes.json", "artifact_path_absolute"],
  ["../notes.json", "artifact_path_outside"],
  ["a/../../notes.json", "artifact_path_outside"],
  ["a\\..\\..\\notes.json", "artifact_path_outside"],
  ["", "artifact_path_empty"],
  [" ", "artifact_path_empty"],
  ["docs/..", "artifact_path_empty"],
  ["docs/", "artifact_path_empty"],
  [".git/hooks/pre-commit", "artifact_path_protected"],
  ["sub/.GitHub/Workflows/ci.yml", "artifact_path_protected"],
  ["sub/.claude. /settings.json", "artifact_path_protected"],
  ["a/../agents.md", "artifact_path_protected"],
])("[PLAN-23] warns of an artifact at %j: %s", (path, code) => {
  expect(spellings(found([phase(writes(path))]))).toEqual([
    `warning ${code} /phases/0/expected_artifact/path`,
  ]);
});

it("[PLAN-23] warns of each protected file, in any folder, and of no name that is only similar", () => {
  for (const { name } of CONTROL_FILES) {
    expect(pathProblem(`a/${name}/b`)?.[0]).toBe("artifact_path_protected");
    expect(pathProblem(`a/${name}x/b`)).toBeNull();
  }
  for (const path of ["docs/spec.json", ".github/CODEOWNERS", "a..b", "..a/b", "./a"]) {
    expect(pathProblem(path)).toBeNull();
  }
});

it("[PLAN-24] warns of a path that phases share which can run in parallel, and of no other", () => {
  const key = (name: string, ...depends_on: string[]) => phase({ key: name, depends_on });
  const shared = [
    { ...key("a"), ...writes("x.json") },
    { ...key("b"), ...writes("./x.json") },
    key("between", "b"),
    { ...key("c", "between"), ...writes("x.json") },
    { ...key("d", "a"), ...writes("y.json") },
  ];
  const [first, ...others] = found(shared);
  expect(first).toMatchObject({
    code: "artifact_path_shared",
    severity: "warning",
    pointer: "/phases/1/expected_artifact/path",
    message: expect.stringContaining('"a" writes this artifact too'),
  });
  expect(others).toEqual([]);
  expect(found(shared.map((each, at) => (at === 1 ? key("b", "a") : each)))).toEqual([]);
});

it.each(["~/notes.json", "~root/notes.json", "~\\notes.json", "~"])(
  "[PLAN-50] warns of an artifact at %j, which a shell takes for a home folder",
  (path) => {
    expect(spellings(found([phase(writes(path))]))).toEqual([
      "warning artifact_path_outside /phases/0/expected_artifact/path",
    ]);
    expect(pathProblem(`docs/${path}/b`)).toBeNull();
    expect(pathProblem("notes~.json")).toBeNull();
  },
);

it.each([
  ["OUT.json", "out.json"],
  ["docs/\u00e9.json", "docs/e\u0301.json"],
])("[PLAN-51] treats %j and %j as one path", (one, other) => {
  const phases = [
    { ...phase({ key: "a", depends_on: [] }), ...writes(one) },
    { ...phase({ key: "b", depends_on: [] }), ...writes(other) },
  ];
  expect(spellings(found(phases))).toEqual([
    "warning artifact_path_shared /phases/1/expected_artifact/path",
  ]);
});

it("[PLAN-25] warns of a dependency that is named twice", () => {
  const phases = [phase({ key: "a" }), phase({ key: "b", depends_on: ["a", "a"] })];
  expect(spellings(found(phases))).toEqual(["warning duplicate_dependency /phases/1/depends_on/1"]);
});

it("[PLAN-24] limits the search for shared paths", () => {
  const phases = Array.from({ length: 3000 }, (_, at) => ({
    ...phase({ key: `k${at}`, depends_on: at === 0 ? [] : [`k${at - 1}`] }),
    ...writes("x.json"),
  }));
  expect(found(phases)).toEqual([]);
});
