import { appendFileSync } from "node:fs";

import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

import { type PrintedSeed, seedsIn } from "./random.ts";

/** A file to which every run of Vitest adds its failures; `.ci/run` prints it at its end. */
const FILE_VARIABLE = "REPRISE_TEST_FAILURES";
const ERROR_LINES = 6;

/** A seed, and which test or suite printed it, if Vitest knows. */
type Seed = PrintedSeed & { readonly task: string | undefined };

/** Adds each failed test with its seeds and the first lines of its errors to the named file, if one is named. */
export function failureList(): Reporter {
  const seeds: Seed[] = [];
  return {
    onUserConsoleLog: ({ content, taskId }) => {
      seeds.push(...seedsIn(content).map((seed) => ({ ...seed, task: taskId })));
    },
    onTestRunEnd: (modules, unhandledErrors) => {
      const file = process.env[FILE_VARIABLE];
      if (file === undefined) {
        return;
      }
      const failures = [
        ...modules.flatMap((module) => [...failuresOf(module, seeds)]),
        ...(unhandledErrors.length === 0 ? [] : [describe("outside every test", unhandledErrors)]),
      ];
      appendFileSync(file, failures.join(""));
    },
  };
}

function* failuresOf(module: TestModule, seeds: readonly Seed[]): Generator<string> {
  const where = `[${module.project.name}] ${module.relativeModuleId}`;
  if (module.errors().length > 0) {
    yield describe(where, module.errors());
  }
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) {
      yield describe(`${where} > ${suite.fullName}`, suite.errors());
    }
  }
  for (const test of module.children.allTests()) {
    const { state, errors = [] } = test.result();
    if (state === "failed") {
      const lines = seedsOf(test, seeds).map(
        ({ name, seed }) => `    ${name}: REPRISE_TEST_SEED=${seed} repeats it\n`,
      );
      yield describe(`${where} > ${test.fullName}`, errors) + lines.join("");
    }
  }
}

/** The seeds that a test drew, the hooks of its suites, and its file while it was loaded. */
function seedsOf(test: TestCase, seeds: readonly Seed[]): Seed[] {
  const { module } = test;
  const tasks = new Set<string>([test.id, module.id]);
  for (let { parent } = test; parent.type === "suite"; { parent } = parent) {
    tasks.add(parent.id);
  }
  const known = new Set([module.id, ...idsBelow(module)]);
  return seeds.filter(
    ({ task = "", file }) =>
      tasks.has(task) || (file === module.relativeModuleId && !known.has(task)),
  );
}

function idsBelow(module: TestModule): string[] {
  return [...module.children.allTests(), ...module.children.allSuites()].map(({ id }) => id);
}

function describe(where: string, errors: readonly Pick<SerializedError, "message">[]): string {
  const lines = errors.flatMap(({ message }) => message.split("\n").slice(0, ERROR_LINES));
  return [`FAIL ${where}`, ...lines.map((line) => `    ${line}`), ""].join("\n");
}
