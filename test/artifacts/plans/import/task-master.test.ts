import { expect, it } from "vitest";

import { importPlan } from "../../../../src/artifacts/plans/import/import-plan.ts";

function imported(value: unknown, tag?: string) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  const runId = crypto.randomUUID();
  return importPlan(text, { format: "taskmaster", role: "assistant", runId, documents: [], tag });
}

function problems(value: unknown, tag?: string): string[] {
  const result = imported(value, tag);
  expect(result.plan).toBe(null);
  return result.problems.map(({ line, message }) => `${line}: ${message}`);
}

const task = (id: number | string, more: object = {}) => ({ id, title: `Title ${id}`, ...more });

it("[PLANRUN-63] takes dependencies, also those on subtasks, and drops those that are done", () => {
  const { plan, left, notes } = imported({
    tasks: [
      task(1, { status: "done" }),
      task(2, { status: "pending", dependencies: [1] }),
      task("3", { status: "in-progress", dependencies: ["2.1", 1] }),
      task(4, { status: "deferred" }),
      task(5, { status: "review", dependencies: [2, "3", 4] }),
      task(6, { status: "todo" }),
    ],
  });
  expect(plan?.phases.map(({ key, depends_on }) => [key, depends_on])).toEqual([
    ["task-2", undefined],
    ["task-3", ["task-2"]],
    ["task-5", ["task-2", "task-3"]],
    ["task-6", undefined],
  ]);
  expect(Object.fromEntries(left)).toEqual({ done: ["1"], deferred: ["4"] });
  expect(notes).toEqual([
    'the status "todo" of 1 task is unknown and taken for pending',
    "5 depends on 4, which is deferred; it does not wait for it",
  ]);
});

it("[PLANRUN-63] writes details, open subtasks, criteria and the test strategy into the instructions", () => {
  const subtasks = [
    { id: 1, title: "First", status: "done" },
    { id: 2, title: "Second", description: "What", details: "How\nand how", testStrategy: "Run" },
  ];
  const { plan } = imported({
    tasks: [
      task(7, {
        description: "Short",
        details: "Long",
        subtasks,
        acceptanceCriteria: "Green",
        testStrategy: "Unit tests",
      }),
    ],
  });
  expect(plan?.phases[0]?.instructions).toBe(
    "Title 7\n\nShort\n\nLong\n\nSteps:\n1. Second\n   What\n   How\n   and how\n   Check: Run\n\nDone already: First\n\nAcceptance criteria: Green\n\nHow to check it: Unit tests\n\nThis is task 7. The other tasks of its list are done in other phases: leave them alone.",
  );
});

it("[PLANRUN-63] reads subtasks that are texts, have no title or depend on a later one", () => {
  const instructionsOf = (subtasks: readonly unknown[]) =>
    imported({ tasks: [task(7, { subtasks })] }).plan?.phases[0]?.instructions;
  const end =
    "This is task 7. The other tasks of its list are done in other phases: leave them alone.";
  expect(instructionsOf(["Write it", " ", "Test it", {}])).toBe(
    `Title 7\n\nSteps:\n1. Write it\n2. Test it\n\n${end}`,
  );
  const untitled = [
    { id: 1, description: "Write it", details: "All of it" },
    { id: 2, description: "Read it", status: "done" },
  ];
  expect(instructionsOf(untitled)).toBe(
    `Title 7\n\nSteps:\n1. Write it\n   All of it\n\nDone already: Read it\n\n${end}`,
  );
  const dependent = [
    { id: 1, title: "Ship", dependencies: ["7.3", 2] },
    { id: 2, title: "Sign", dependencies: [3, 1] },
    { id: 3, title: "Build", dependencies: [99, "8.1"] },
  ];
  expect(instructionsOf(dependent)).toBe(`Title 7\n\nSteps:\n1. Build\n2. Sign\n3. Ship\n\n${end}`);
});

it("[PLANRUN-63] reads one tag: the chosen one, the only one or master", () => {
  const tags = { master: { tasks: [task(1)] }, other: { tasks: [task(2)] } };
  expect(imported(tags).plan?.phases[0]?.key).toBe("task-1");
  expect(imported(tags).notes).toEqual([
    'of the tags only "master" is read; --tag chooses another: "other"',
  ]);
  expect(imported(tags, "other").plan?.phases[0]?.key).toBe("task-2");
  expect(imported({ only: { tasks: [task(3)] } }).plan?.phases[0]?.key).toBe("task-3");
  expect(problems({ a: { tasks: [] }, b: { tasks: [] } })).toEqual([
    '1: the file has the tags "a", "b"; choose one with --tag',
  ]);
  expect(problems(tags, "none")).toEqual([
    '1: the file has no tag "none"; it has "master", "other"',
  ]);
  expect(problems({ tasks: [task(1)] }, "x")).toEqual(["1: the file has no tags; leave --tag out"]);
});

it("[PLANRUN-64] names the lines of what is wrong in a file of Task Master", () => {
  expect(
    problems({
      tasks: [
        task(1, { dependencies: [2] }),
        task(2, { dependencies: [3] }),
        task(3, { dependencies: [1] }),
        task(3),
        task(4, { dependencies: [99, 4] }),
        { title: "no id" },
      ],
    }),
  ).toEqual([
    "3: tasks depend on each other in a circle: 1 → 2 → 3 → 1; remove one of these dependencies",
    "24: 3 is the id of the task on line 17, too; give one of them another",
    '32: 4 depends on "99", which is not in this list; correct it, or remove it',
    "33: 4 depends on itself; remove that",
    "36: this task has no id; give it a number",
  ]);
  expect(problems({ tasks: [{ id: 1 }] })).toEqual([
    "3: 1 has no text; write what is to be done, or remove it",
  ]);
  expect(problems('{"tasks": [\n{"id": 1,')[0]).toMatch(/^2: /);
  expect(problems({ list: [] })[0]).toContain("1: no list of tasks was found");
  expect(problems('{"tasks": [{"id": 1,\n"title": "\\u001b[31m"}]}')).toEqual([
    "2: the text has the control character U+001B; remove it",
  ]);
  expect(problems('{"tasks": [{"id": 1, "title": "\\ud800"}]}')).toEqual([
    "1: the text has the control character U+D800; remove it",
  ]);
  expect(problems("[".repeat(100))[0]).toMatch(/^1: /);
});
