import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends the run's output with `N passed, N failed` alone on a line, for programs that read it. A
 * file that cannot be loaded and an error outside every test count as failed, so that the line
 * never says 0 if the exit code says otherwise.
 */
export function closingLine(): Reporter {
  return {
    onTestRunEnd: (modules, unhandledErrors) => {
      const states = modules.flatMap((module) => [...statesOf(module)]);
      const passed = states.filter((state) => state === "passed").length;
      const failed = states.filter((state) => state === "failed").length;
      process.stdout.write(`\n${passed} passed, ${failed + unhandledErrors.length} failed\n`);
    },
  };
}

function* statesOf(module: TestModule): Generator<string> {
  if (module.errors().length > 0) {
    yield "failed";
  }
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) {
      yield "failed";
    }
  }
  for (const test of module.children.allTests()) {
    yield test.result().state;
  }
}
