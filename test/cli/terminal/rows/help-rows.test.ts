import { expect, it } from "vitest";

import { listedUsages } from "../../../../src/cli/chat/slash/slash.ts";
import { helpRows } from "../../../../src/cli/terminal/rows/help-rows.ts";
import { cellText } from "../../../../src/cli/terminal/pi/text.ts";

it.each([
  [80, 20],
  [40, 20],
  [30, 40],
])("[TERM-98] /help fits on a screen of %i columns", (width, most) => {
  const rows = helpRows(listedUsages(), { width, text: cellText });
  expect(rows.length).toBeLessThanOrEqual(most);
  expect(Math.max(...rows.map(cellText.width))).toBeLessThanOrEqual(width);
  for (const { name } of listedUsages()) {
    expect(rows.filter((row) => row.trimStart().startsWith(`/${name} `))).toHaveLength(1);
  }
});
