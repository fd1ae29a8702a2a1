import { expect, it } from "vitest";

import { NO_USAGE } from "../../../src/core/cost/model-calls.ts";
import { visibleWidth } from "../../../src/cli/terminal/pi/text.ts";
import { type StatusState, statusRow } from "../../../src/cli/terminal/status-line.ts";
import { plainTheme as theme } from "./plain-theme.ts";

const STATE: StatusState = {
  activity: "ready",
  questions: 0,
  folder: "~/code/projects/shop",
  mode: "ask",
  hasSandbox: true,
  context: 0.123,
  usage: null,
  persona: "assistant",
  model: "openai:gpt-5.1",
  session: "a97f3bc9",
  tokens: { input_tokens: 3120, output_tokens: 410 },
};
const columns = {
  width: visibleWidth,
  cut: (text: string, width: number) => text.slice(0, width),
};
const row = (change: Partial<StatusState>, width: number): string =>
  statusRow({ ...STATE, ...change }, { width, theme, columns });

it.each([
  [
    120,
    "ready · mode ask · ~/code/projects/shop · 12 % context · assistant · openai:gpt-5.1 · a97f3bc9 · 3.1k in 410 out",
  ],
  [
    100,
    "ready · mode ask · ~/code/projects/shop · 12 % context · assistant · openai:gpt-5.1 · a97f3bc9",
  ],
  [80, "ready · mode ask · ~/code/projects/shop · 12 % context · assistant"],
  [40, "ready · mode ask · ~/code/projects/shop"],
  [30, "ready · mode ask · …jects/shop"],
  [20, "ready · mode ask"],
  [5, "ready"],
])("[TERM-18] fits %i columns", (width, shown) => {
  expect(row({}, width).slice(0, width)).toBe(shown.slice(0, width));
  expect(visibleWidth(row({}, width))).toBeLessThanOrEqual(width);
});

it("[COST-16] [TERM-18] shows a cost after the context, and the cached share with it", () => {
  const usage = { ...NO_USAGE, calls: 2, input: 1000, cache_read: 906, cost_micros: 123_456 };
  const begin = "ready · mode ask · ~/code/projects/shop · 12 % context · ";
  expect(row({ usage }, 100)).toBe(`${begin}$0.12 · 91 % cached · assistant`);
  expect(row({ usage: { ...usage, unpriced: 1 } }, 100)).toBe(
    `${begin}at least $0.12 · 91 % cached · assistant`,
  );
  expect(row({ usage: { ...usage, cost_micros: 1, cache_read: 0 } }, 80)).toContain(
    `${begin}<$0.01 · assistant`,
  );
  for (const cost_micros of [0, null]) {
    expect(row({ usage: { ...usage, cost_micros } }, 80)).toBe(`${begin}assistant`);
  }
});

it("[TERM-18] always shows what is dangerous", () => {
  const dangerous = { mode: "all", hasSandbox: false, questions: 2 } as const;
  expect(row(dangerous, 80)).toBe(
    "2 questions · ~/code/projects/shop · mode all · no sandbox · 12 % context",
  );
  expect(row(dangerous, 40)).toBe("2 questions · mode all · no sandbox");
  expect(row(dangerous, 20)).toBe("mode all · no sandbo");
  expect(row({ mode: "plan", questions: 1 }, 40)).toBe("1 question · plan · ~/code/projects/shop");
});

it("[TERM-18] [TERM-19] is one row of clean text, whatever a folder or a model is called", () => {
  for (let width = 1; width < 90; width += 1) {
    const shown = row({ folder: "/\u001b[2J\n漢字/👩‍👩‍👧/漢字漢字", model: "\u202ex" }, width);
    expect(visibleWidth(shown)).toBeLessThanOrEqual(width);
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(shown).not.toMatch(/[\u0000-\u001f\u202e]/);
  }
});
