import { SIZED_TESTS, type SizedName } from "../torture/sizes.ts";

/** `test` for `npm test`; `npm run torture` sets one of the others. */
export type Level = "test" | "short" | "long";

export function testLevel(): Level {
  const level = process.env["REPRISE_TEST_LEVEL"];
  return level === "short" || level === "long" ? level : "test";
}

/** How much of a test is run: its size at this level, or what `--size` of a torture says. */
export function testSize(name: SizedName): number {
  const { [testLevel()]: size } = SIZED_TESTS[name];
  return Number(process.env["REPRISE_TEST_SIZE"] ?? size);
}
