import { appendFileSync } from "node:fs";

import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** A file to which every run of Vitest adds its failures; `.ci/run` prints it at its end. */
const FILE_VARIABLE = "REPRISE_TEST_FAILURES";
const ERROR_LINES = 6;

/** Adds each failed test and the first lines of its errors to the named file, if one is named. */
export function failureList(): Reporter {
  return {
    onTestRunEnd: (modules, unhandledErrors) => {
      const file = process.env[FILE_VARIABLE];
      if (file === undefined) {
        return;
      }
      const failures = [
        ...modules.flatMap((module) => [...failuresOf(module)]),
        ...(unhandledErrors.length === 0 ? [] : [describe("outside every test", unhandledErrors)]),
      ];
      appendFileSync(file, failures.join(""));
    },
  };
}

function* failuresOf(module: TestModule): Generator<string> {
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
      yield describe(`${where} > ${test.fullName}`, errors);
    }
  }
}

function describe(where: string, errors: readonly Pick<SerializedError, "message">[]): string {
  const lines = errors.flatMap(({ message }) => message.split("\n").slice(0, ERROR_LINES));
  return [`FAIL ${where}`, ...lines.map((line) => `    ${line}`), ""].join("\n");
}
