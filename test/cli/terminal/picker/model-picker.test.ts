import { expect, it } from "vitest";

import type { PickedModel } from "../../../../src/cli/chat/front.ts";
import { createModelPicker } from "../../../../src/cli/terminal/picker/model-picker.ts";
import { visibleWidth } from "../../../../src/cli/terminal/pi/text.ts";
import type { ModelInfo } from "../../../../src/core/schemas/service-schemas.ts";
import { freshHome } from "../../../helpers/reprise.ts";
import { openScreen } from "../../../helpers/screen.ts";
import { text } from "../../../helpers/providers/steps.ts";
import { startProvider } from "../../../helpers/providers/start.ts";
import { detailOf, seed } from "../../../helpers/sessions/seed.ts";
import { ID } from "../../../helpers/slow-answer.ts";
import { plainTheme } from "../plain-theme.ts";

const [DOWN, ENTER, ESC, CTRL_F] = ["\u001b[B", "\r", "\u001b", "\u0006"];

const model = (name: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
  name,
  provider: "openai",
  is_default: false,
  is_usable: true,
  context_tokens: 200_000,
  output_tokens: null,
  is_assumed: false,
  images: null,
  reasoning: null,
  input_price: 2_000_000,
  output_price: 10_000_000,
  ends: null,
  ...more,
});

function opened(models: readonly ModelInfo[], current: string | null = null) {
  const done: (PickedModel | null)[] = [];
  const picker = createModelPicker({
    theme: plainTheme,
    models,
    current,
    on: { changed: () => undefined, done: (picked) => done.push(picked) },
  });
  const rows = (width = 80, height = 12) => picker.rows(width, height).map((row) => row.trimEnd());
  const press = (...keys: readonly string[]): void => {
    for (const key of keys) {
      picker.key(key);
      rows();
    }
  };
  return { picker, rows, press, done };
}

const MODELS = [
  model("openai:one", { is_default: true }),
  model("anthropic:two", { images: false }),
  model("openai:th\u001bree", { context_tokens: null, input_price: null }),
];

it("[TERM-158] lists models with what is known of them, the current one selected", () => {
  const { rows, press, done } = opened(MODELS, "anthropic:two");
  expect(rows()).toEqual([
    "Another model                                                             2 of 3",
    "Search: _",
    "  openai:one     200,000 tokens · $2.00 in, $10.00 out · the default",
    "> anthropic:two  200,000 tokens · $2.00 in, $10.00 out · no images · now",
    "  openai:th␛ree",
    "",
    "",
    "",
    "",
    "",
    "",
    "Enter keep the conversation  ^F fresh context  Esc leave",
  ]);
  for (const [width, height] of [
    [20, 4],
    [1, 1],
    [40, 3],
  ] as const) {
    const drawn = rows(width, height);
    expect(drawn).toHaveLength(height);
    expect(drawn.every((row) => visibleWidth(row) <= width)).toBe(true);
  }
  press(DOWN, ENTER);
  expect(done).toEqual([{ model: "openai:th\u001bree", keeps: true }]);
});

it("[TERM-158] shows whole names in 40 columns, with the facts about the selected one below them", () => {
  const long = "anthropic:claude-sonnet-4-5-20250929";
  const { rows, press } = opened([model(long), model("openai:one"), model(`${long}-more`)]);
  expect(rows(40, 7)).toEqual([
    "Another model                     1 of 3",
    "Search: _",
    `> ${long}`,
    "  openai:one",
    `  ${long}-…`,
    "200,000 tokens · $2.00 in, $10.00 out",
    "Enter keep  ^F fresh  Esc leave",
  ]);
  press("x");
  expect(rows(40, 6).slice(2)).toEqual([
    "No model has this name.",
    "",
    "",
    "Enter keep  ^F fresh  Esc leave",
  ]);
});

it("[TERM-158] finds names that contain what is typed before those that have its letters", () => {
  const sonnet = "anthropic:claude-sonnet-5";
  const { rows, press } = opened([model(sonnet), model("anthropic:claude-opus-5")]);
  press("o", "p", "u", "s");
  expect(rows()[0]).toMatch(/1 of 1$/);
  expect(rows()[2]).toContain("> anthropic:claude-opus-5");
  press(" ", "5", "\u007f", "\u007f", "\u007f", "\u007f", "n");
  expect(rows()[1]).toBe("Search: opn_");
  expect(rows()[2]).toContain(`> ${sonnet}`);
});

it("[TERM-158] searches for what is typed, and Ctrl-F begins a fresh context", () => {
  const { rows, press, done } = opened(MODELS);
  press("o", "n", "e");
  expect(rows()[1]).toBe("Search: one_");
  expect(rows()[2]).toContain("> openai:one");
  press(CTRL_F);
  expect(done).toEqual([{ model: "openai:one", keeps: false }]);
  press("z", "z", ENTER, CTRL_F, ESC);
  expect(rows()[2]).toBe("No model has this name.");
  expect(done.slice(1)).toEqual([null]);
});

it("[TERM-158] a key that comes before the list was drawn chooses nothing", () => {
  const { picker, done } = opened(MODELS);
  picker.key(ENTER);
  expect(done).toEqual([]);
  picker.rows(80, 12);
  picker.key("t");
  picker.key(ENTER);
  expect(done).toEqual([]);
});

it("[TERM-158] /model without a name lets another model continue the conversation, or begin without it", async () => {
  await using provider = await startProvider("openai", () => [text("Hello.")]);
  const home = freshHome({ ...provider.env, REPRISE_MODEL: "openai:test" });
  await seed(home, { id: ID, messages: ["before"] });
  const screen = openScreen(home, `exec reprise --session ${ID}`, { columns: 110 });
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/model\r");
  await screen.until(/^Another model[^]*^> openai:test .*· now/m);
  screen.type("demo:echo");
  await screen.until(/^> demo:echo/m);
  screen.type(ENTER);
  await screen.until(/The conversation continues with demo:echo/);
  const kept = await detailOf(home, ID);
  expect(kept.model).toBe("demo:echo");
  screen.type("/switch\r");
  await screen.until(/^Another model/m);
  screen.type("openai:test");
  await screen.until(/^> openai:test/m);
  screen.type(CTRL_F);
  await screen.until(/The agent has a fresh context \(thread 1\)/);
  screen.type("/model\r");
  await screen.until(/^Another model/m);
  screen.type(ESC);
  await screen.until(/^model: openai:test$/m);
  screen.type("\u0004");
  expect(await screen.finished).toBe(0);
});
