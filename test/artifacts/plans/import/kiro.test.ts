import { expect, it } from "vitest";

import { importPlan } from "../../../../src/artifacts/plans/import/import-plan.ts";

function imported(...lines: readonly string[]) {
  return importPlan(lines.join("\n"), {
    format: "kiro",
    role: "assistant",
    runId: crypto.randomUUID(),
    documents: [],
  });
}

function dependencies(...lines: readonly string[]): Record<string, readonly string[]> {
  const { plan } = imported(...lines);
  return Object.fromEntries(
    (plan?.phases ?? []).map(({ key, depends_on = [] }) => [key, depends_on]),
  );
}

function problems(...lines: readonly string[]): string[] {
  const result = imported(...lines);
  expect(result.plan).toBe(null);
  return result.problems.map(({ line, message }) => `${line}: ${message}`);
}

it("[PLANRUN-62] makes phases of the subtasks, in their order, with what their task says", () => {
  const { plan, left } = imported(
    "# Implementation Plan",
    "",
    "- [x] 1. Set up",
    "  - _Requirements: 1.1_",
    "- [-] 2. Write the store",
    "  - in one table",
    "  - [x] 2.1 Table",
    "  - [ ] 2.2 Functions",
    "    - read and write",
    "    - _Requirements: 1.2, 2.1_",
    "  - [ ]* 2.3 Property tests",
    "- [ ] 3. Checkpoint: all tests pass",
    "- [ ]* 3.1 More tests",
  );
  expect(plan?.phases.map(({ key, title, depends_on }) => [key, title, depends_on])).toEqual([
    ["task-2-2", "Functions", undefined],
    ["task-3", "Checkpoint: all tests pass", ["task-2-2"]],
  ]);
  expect(plan?.phases[0]?.instructions).toBe(
    "Functions\n- read and write\n- _Requirements: 1.2, 2.1_\n\nIt belongs to task 2: Write the store\n- in one table\n\nThis is task 2.2. The other tasks of its list are done in other phases: leave them alone.",
  );
  expect(Object.fromEntries(left)).toEqual({ done: ["1", "2.1"], optional: ["2.3", "3.1"] });
});

it("[PLANRUN-62] takes the waves of a graph in the file, and what it leaves out after all above", () => {
  expect(
    dependencies(
      "- [ ] 1. Base",
      "  - [ ] 1.1 One",
      "  - [ ] 1.2 Two",
      "  - [ ] 1.3 Three",
      "- [ ] 2. Checkpoint",
      "- [ ] 3. Rest",
      "  - [ ] 3.1 Four",
      "```json",
      '{"waves": [{"tasks": ["1.1"]}, {"tasks": ["1.2", "1.3"]}, {"tasks": ["3.1"]}]}',
      "```",
    ),
  ).toEqual({
    "task-1-1": [],
    "task-1-2": ["task-1-1"],
    "task-1-3": ["task-1-1"],
    "task-2": ["task-1-2", "task-1-3"],
    "task-3-1": ["task-2"],
  });
});

it("[PLANRUN-62] obeys the signs of cc-sdd: (P) for side by side, and _Depends_", () => {
  expect(
    dependencies(
      "- [ ] 1. Base",
      "- [ ] 1.1 (P) One",
      "- [ ] 1.2 (P) Two",
      "  - _Depends: 1.1_",
      "- [ ] 2. (P) Rest",
    ),
  ).toEqual({ "task-1-1": [], "task-1-2": ["task-1-1"], "task-2": ["task-1-1", "task-1-2"] });
});

it("[PLANRUN-64] names the lines of what is wrong in a file of Kiro", () => {
  expect(
    problems(
      "- [x] 1. One",
      "- [ ] 1. One again",
      "- [ ] 2. Two",
      "  - _Depends: 7_",
      "- [ ] 3. Three",
      "```json",
      '{"waves": [{"tasks": ["9"]}]}',
      "```",
    ),
  ).toEqual([
    "2: 1 is the number of the task on line 1, too; give one of them another",
    "3: 2 depends on 7, which is not in this file; correct it, or remove it",
    '6: the graph of dependencies names the task "9", which is not in this file; correct it, or remove it',
  ]);
  expect(problems("- [ ] 1. One", "```", '{"waves": [', "```")[0]).toContain("2: the graph of");
  expect(problems("- [ ] 3.")).toEqual([
    "1: 3 has no text; write what is to be done, or remove it",
  ]);
});
