import { SIZED_TESTS, type SizedName, type SizedTest } from "../torture/sizes.ts";

/** `test` for `npm test`; `npm run torture` sets one of the others. */
export type Level = "test" | "short" | "long";

export function testLevel(): Level {
  const level = process.env["REPRISE_TEST_LEVEL"];
  return level === "short" || level === "long" ? level : "test";
}

/** True in the project `postgres` of vitest.config.ts. */
export function isPostgresRun(): boolean {
  return process.env["REPRISE_TEST_ENGINE"] === "postgres";
}

/**
 * True in `--short` on SQLite: tests without a size would repeat there what `npm test` has run. Only for tests that run
 * on a bare machine, too: what is skipped there runs nowhere else.
 */
export function repeatsNpmTest(): boolean {
  return testLevel() === "short" && !isPostgresRun();
}

/**
 * How much of a test is run: its size at this level, or what `--size` of a torture says. That of `npm test` if level
 * short has none: its file runs there for another size, or on PostgreSQL. There a third of it at level short: SQLite has
 * all of it in the same run, and a statement costs ten times as much.
 */
export function testSize(name: SizedName): number {
  const level = testLevel();
  const sizes: SizedTest = SIZED_TESTS[name];
  const size = level === "short" && sizes.short === 0 ? sizes.test : sizes[level];
  const part = level === "short" && isPostgresRun() ? Math.ceil(size / 3) : size;
  return Number(process.env["REPRISE_TEST_SIZE"] ?? part);
}
