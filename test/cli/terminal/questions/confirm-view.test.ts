import { expect, it } from "vitest";

import { createConfirmView } from "../../../../src/cli/terminal/questions/confirm-view.ts";
import { viewScreen } from "../../../helpers/terminal-view.ts";

function confirmed(question = "Run them again?") {
  const place = viewScreen();
  const view = createConfirmView(place.screen, question);
  let answer: boolean | null = null;
  const over = new AbortController();
  void view.ask(over.signal).then((yes) => (answer = yes));
  return {
    ...place,
    view,
    over,
    answer: async (): Promise<boolean | null> => {
      await new Promise((done) => setImmediate(done));
      return answer;
    },
  };
}

it.each([
  ["y", null],
  ["y enter", true],
  ["Y enter", true],
  ["n", false],
  ["enter", false],
  ["esc", false],
  ["ctrl-c", false],
  ["down enter", true],
  ["down down enter", false],
  ["x", null],
  ["x y", null],
  ["y esc", false],
  ["y n", false],
  ["ctrl-z", null],
])("[TERM-46] a question of the program: %s is %s", async (keys, expected) => {
  const { view, press, answer } = confirmed();
  press(view, ...keys.split(" "));
  expect(await answer()).toBe(expected);
});

it("[TERM-46] a question of the program is shown, and stays in the scrollback with its answer", async () => {
  const { view, press, draw, committed } = confirmed();
  expect(draw(view)).toBe(
    "  Run them again?\n  [y] yes   [n] no\n  Enter or Esc: no · text is a message",
  );
  press(view, "y");
  expect(draw(view)).toBe(
    "  Run them again?\n> [y] yes   [n] no\n  Enter confirms · Esc: no · text is a message",
  );
  press(view, "enter");
  expect(committed).toEqual(["  Run them again?", "> yes"]);
});

it("[TERM-46] a question of the program takes no early or pasted key", async () => {
  const { view, draw, answer, over, committed } = confirmed();
  expect(view.key("y")).toBe(false);
  draw(view);
  expect(view.paste("y\r")).toBe(false);
  expect(await answer()).toBe(null);
  over.abort();
  expect(await answer()).toBe(false);
  expect(committed.at(-1)).toBe("> no");
});

it.each([
  ["yes, of course", 200],
  ["yes, of course", 2000],
  ["you may", 200],
  ["no way", 200],
])(
  "[TERM-116] a text typed at a question of the program answers nothing: %s, %i ms a key",
  async (text, ms) => {
    const { view, write, draw, answer, wait, message } = confirmed();
    draw(view);
    write(view, text, ms);
    wait(5000);
    expect(await answer()).toBe(null);
    expect(message.message().text).toBe(text);
    expect(draw(view)).toContain(`> ${text}`);
  },
);
