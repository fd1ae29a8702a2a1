import { expect, it } from "vitest";

import { NO_USAGE } from "../../../src/core/cost/model-calls.ts";
import { visibleWidth } from "../../../src/cli/terminal/pi/text.ts";
import { type StatusState, statusRow } from "../../../src/cli/terminal/status-line.ts";
import { plainTheme as theme } from "./plain-theme.ts";

const STATE: StatusState = {
  isWorking: false,
  questions: 0,
  folder: "~/code/projects/shop",
  branch: "main",
  mode: "ask",
  hasSandbox: true,
  context: { tokens: 15_744, window: 128_000 },
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
  [100, "ask ⇧⇥ · ~/code/projects/shop main · 12 % of 128k · gpt-5.1 · a97f3bc9 · 3.1k in 410 out"],
  [80, "ask ⇧⇥ · ~/code/projects/shop main · 12 % of 128k · gpt-5.1 · a97f3bc9"],
  [40, "ask ⇧⇥ · ~/code/projects/shop main"],
  [30, "ask ⇧⇥ · …e/projects/shop main"],
  [20, "ask ⇧⇥ · …/shop main"],
  [10, "ask ⇧⇥"],
])("[TERM-18] fits %i columns", (width, shown) => {
  expect(row({}, width).slice(0, width)).toBe(shown.slice(0, width));
  expect(visibleWidth(row({}, width))).toBeLessThanOrEqual(width);
});

it("[COST-16] [TERM-18] shows a cost after the context, and the cached share with it", () => {
  const usage = { ...NO_USAGE, calls: 2, input: 1000, cache_read: 906, cost_micros: 123_456 };
  const begin = "ask ⇧⇥ · ~/code/projects/shop main · 12 % of 128k · ";
  expect(row({ usage }, 100)).toBe(`${begin}$0.12 · 91 % cached · gpt-5.1 · a97f3bc9`);
  expect(row({ usage: { ...usage, unpriced: 1 } }, 100)).toBe(
    `${begin}at least $0.12 · 91 % cached · gpt-5.1`,
  );
  expect(row({ usage: { ...usage, cost_micros: 1, cache_read: 0 } }, 80)).toContain(
    `${begin}<$0.01 · gpt-5.1`,
  );
  for (const cost_micros of [0, null]) {
    expect(row({ usage: { ...usage, cost_micros } }, 80)).toBe(`${begin}gpt-5.1 · a97f3bc9`);
  }
});

it("[TERM-18] always shows what is dangerous", () => {
  const dangerous = { mode: "all", hasSandbox: false, questions: 2 } as const;
  expect(row(dangerous, 80)).toBe(
    "mode all · 2 questions · no sandbox · ~/code/projects/shop main · 12 % of 128k",
  );
  expect(row(dangerous, 40)).toBe("mode all · 2 questions · no sandbox");
  expect(row(dangerous, 20)).toBe("mode all · no sandbo");
  expect(row({ mode: "plan", questions: 1 }, 40)).toBe("plan ⇧⇥ · 1 question · …ojects/shop main");
});

it("[TERM-208] begins with the mode, says what runs, and names a model without its provider", () => {
  expect(row({ isWorking: true, branch: null }, 60)).toBe(
    "ask ⇧⇥ · working · ~/code/projects/shop · 12 % of 128k",
  );
  expect(row({ model: "demo:echo", folder: null, branch: null, context: null }, 60)).toBe(
    "ask ⇧⇥ · no folder · demo:echo · a97f3bc9 · 3.1k in 410 out",
  );
  expect(row({ persona: "reviewer", mode: null }, 80)).toBe(
    "~/code/projects/shop main · 12 % of 128k · gpt-5.1 · reviewer · a97f3bc9",
  );
});

it("[TERM-18] [TERM-19] is one row of clean text, whatever a folder or a model is called", () => {
  for (let width = 1; width < 90; width += 1) {
    const shown = row(
      { folder: "/\u001b[2J\n漢字/👩‍👩‍👧/漢字漢字", branch: "\u001b[31m漢", model: "\u202ex" },
      width,
    );
    expect(visibleWidth(shown)).toBeLessThanOrEqual(width);
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(shown).not.toMatch(/[\u0000-\u001f\u202e]/);
  }
});
