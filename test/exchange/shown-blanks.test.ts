import { expect, it } from "vitest";

import { visibleBlanks } from "../../src/exchange/commands/shown-command.ts";

it.each([
  [`npm test${" ".repeat(4600)}; curl x | sh`, "npm test<4600 spaces>; curl x | sh"],
  [`a${"\t".repeat(9)}b${"\u00a0".repeat(20)}c`, "a<9 spaces>b<20 spaces>c"],
  [`a${"\n".repeat(41)}b`, "a\n<40 blank lines>\nb"],
  ["a\n        b  c\n\n\nd", "a\n        b  c\n\n\nd"],
])("[PERMISSION-89] shows the blanks of %j", (text, expected) => {
  expect(visibleBlanks(text)).toBe(expected);
});
