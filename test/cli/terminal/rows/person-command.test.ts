import { expect, it } from "vitest";

import { createPersonCommand } from "../../../../src/cli/terminal/rows/person-command.ts";
import { plainTheme } from "../plain-theme.ts";

const LAYOUT = { theme: plainTheme, width: 60 };

function command() {
  let [ms, timers] = [0, 0];
  const shown = createPersonCommand({
    now: () => ms,
    changed: () => undefined,
    every: () => {
      timers += 1;
      return () => (timers -= 1);
    },
  });
  return {
    ...shown,
    pass: (more: number): void => void (ms += more),
    row: (): string | undefined => shown.rows(LAYOUT)[0]?.slice(2),
    timers: () => timers,
  };
}

it("[TERM-130] a command is shown once it has taken a moment, until it ends", () => {
  const { begin, pass, row, isShown, timers } = command();
  const end = begin("/compact", true);
  pass(199);
  expect([row(), isShown()]).toEqual([undefined, false]);
  pass(1);
  expect([row(), isShown()]).toEqual(["/compact 0 s · Esc stops", true]);
  pass(8000);
  expect(row()).toBe("/compact 8 s · Esc stops");
  end();
  expect([row(), isShown(), timers()]).toEqual([undefined, false, 0]);
  begin("/undo\u001b[2J 3", false);
  pass(65_000);
  expect(row()).toBe("/undo␛[2J 3 1 min 5 s");
});

it("[TERM-130] [TERM-46] a command does not run while a person is asked or reads", async () => {
  const { begin, pause, pass, row, timers } = command();
  const end = begin("/clear", false);
  pass(50);
  const answer = await pause(async () => {
    pass(60_000);
    expect([row(), timers()]).toEqual([undefined, 0]);
    return "yes";
  });
  expect([answer, row(), timers()]).toEqual(["yes", undefined, 1]);
  pass(150);
  expect(row()).toBe("/clear 0 s");
  end();
  await pause(async () => undefined);
  expect([row(), timers()]).toEqual([undefined, 0]);
});
