import { expect, it } from "vitest";

import { importPlan } from "../../../../src/artifacts/plans/import/import-plan.ts";

const RUN = "3f2c8a54-6f0e-4f6b-9d43-0b1f3c1e7a90";

function imported(...lines: readonly string[]) {
  const documents = ["specs/001/spec.md"];
  return importPlan(lines.join("\n"), {
    format: "spec-kit",
    role: "assistant",
    runId: RUN,
    documents,
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

it("[PLANRUN-61] lets tasks run in their order, those marked [P] below one heading side by side, and a checkpoint after its section", () => {
  expect(
    dependencies(
      "## Phase 1: Setup",
      "- [ ] T001 Create the project",
      "- [ ] T002 [P] Configure the linter",
      "- [ ] T003 [P] Configure the tests",
      "",
      "**Checkpoint**: the tests run",
      "## Phase 2: Story",
      "### Tests",
      "- [ ] T004 [P] [US1] Test the route",
      "- [ ] T005 [P] [US1] Test the store",
      "### Implementation",
      "- [ ] T006 [P] [US1] Write the store",
      "- [ ] T007 [P] [US1] Write the route (depends on T006)",
      "- [ ] T008 [US1] Log it",
    ),
  ).toEqual({
    t001: [],
    t002: ["t001"],
    t003: ["t001"],
    "checkpoint-t003": ["t002", "t003"],
    t004: ["checkpoint-t003"],
    t005: ["checkpoint-t003"],
    t006: ["t004", "t005"],
    t007: ["t004", "t005", "t006"],
    t008: ["t006", "t007"],
  });
});

it("[PLANRUN-61] writes the instructions from the task, its section and the specification", () => {
  const { plan } = imported(
    "## Phase 3: User Story 1",
    "**Goal**: People see",
    "their orders.",
    "**Independent Test**: Open the page.",
    "",
    "- [ ] **T012** [US1] Create the model in",
    "  src/order.ts",
    "  - with tests",
    "",
    "**Checkpoint**: The page shows orders",
  );
  expect(plan).toEqual({
    runId: RUN,
    phaseKey: "planning",
    phases: [
      {
        key: "t012",
        title: "Create the model in",
        role: "assistant",
        instructions:
          'Create the model in\nsrc/order.ts\n- with tests\n\nIt belongs to "Phase 3: User Story 1".\nGoal: People see their orders.\nIndependent test: Open the page.\n\nRead first: specs/001/spec.md\n\nThis is task T012. The other tasks of its list are done in other phases: leave them alone.',
      },
      {
        key: "checkpoint-t012",
        title: "Checkpoint: Phase 3: User Story 1",
        role: "assistant",
        instructions:
          'Check the work of T012. This must hold:\nThe page shows orders\n\nIt belongs to "Phase 3: User Story 1".\nIndependent test: Open the page.\n\nRead first: specs/001/spec.md\n\nRun what shows it, fix what does not hold, and answer with what you checked and found.',
        depends_on: ["t012"],
      },
    ],
  });
});

it("[PLANRUN-60] leaves out what is done or marked otherwise, and with it checkpoints of done sections", () => {
  const { plan, left, notes } = imported(
    "## Phase 1",
    "- [X] T001 Done",
    "**Checkpoint**: done",
    "## Phase 2",
    "- [x] T002 Done",
    "- [~] T003 Skipped",
    "- [ ] T004 Open",
    "- [ ] no number",
    "```",
    "- [ ] T005 an example",
    "```",
    "<!--",
    "- [ ] T006 a comment",
    "-->",
  );
  expect(plan?.phases.map(({ key }) => key)).toEqual(["t004"]);
  expect(Object.fromEntries(left)).toEqual({ done: ["T001", "T002"], "marked [~]": ["T003"] });
  expect(notes).toEqual(["open boxes without a number such as T001 are not imported: line 8"]);
});

it("[PLANRUN-64] names the lines of what cannot be imported", () => {
  expect(
    problems(
      "- [ ] T001 One (depends on T009)",
      "- [ ] T002 Two (depends on T003–T004)",
      "- [ ] T003 Three",
      "- [ ] T003 Three again",
      "- [ ] TXXX Later",
    ),
  ).toEqual([
    "1: T001 depends on T009, which is not in this file; correct it, or remove it",
    "2: T002 depends on T003, which comes later (line 3); move it up",
    "2: T002 depends on T004, which is not in this file; correct it, or remove it",
    "4: T003 is the id of the task on line 3, too; give one of them another",
    '5: "TXXX Later" is a placeholder of the template; give the task a number, or remove it',
  ]);
  expect(problems("- [ ] T001", "- [ ] T002 [P]")).toEqual([
    "1: T001 has no text; write what is to be done, or remove it",
    "2: T002 has no text; write what is to be done, or remove it",
  ]);
  expect(problems("- [ ] T001 One \u001b[31mred", "two\u202e")).toEqual([
    "1: the text has the control character U+001B; remove it",
    "2: the text has the control character U+202E; remove it",
  ]);
});

it("[PLANRUN-64] says of a whole file why no plan can be made of it", () => {
  expect(problems("  ", "")).toEqual(["1: the file is empty"]);
  expect(problems("# Tasks", "nothing")).toEqual([
    "1: no task was found; one is written `- [ ] T001 Text`",
  ]);
  expect(problems("- [ ] 1. Kiro's")).toEqual([
    "1: no task was found; one is written `- [ ] T001 Text`. This file can be read with --from kiro",
  ]);
  expect(problems('{"tasks": [{"id": 1, "title": "a"}]}')[0]).toContain("--from taskmaster");
  expect(problems("- [x] T001 One")).toEqual([
    "1: no task is open (1 done), so there is nothing to run",
  ]);
  const many = Array.from({ length: 1001 }, (_, at) => `- [ ] T${at + 1} Task`);
  expect(problems(...many)).toEqual([
    "1001: the file has 1001 open tasks, and a plan 1000 phases at most; split it",
  ]);
  expect(problems("x".repeat(2_000_001))).toEqual([
    "1: the file has more than 2000000 characters; split it",
  ]);
  expect(problems(`- [ ] T001 ${"x".repeat(100_001)}`)).toEqual([
    "1: T001 has more than 100000 characters; shorten it",
  ]);
});
