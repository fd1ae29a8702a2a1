import { expect, it } from "vitest";

import { visibleWidth } from "../../../../src/cli/terminal/pi/text.ts";
import type { ExchangeResult } from "../../../../src/exchange/events.ts";
import { scriptedExchange } from "../scripted-exchange.ts";

const DONE = { state: "done", answer: "" } as ExchangeResult;

const listOf = (states: string, text = (n: number) => `task ${n}`) => ({
  tasks: states.split("").map((state, n) => ({
    text: text(n + 1),
    state: state === "d" ? "done" : state === "r" ? "running" : "pending",
  })),
});

function scripted(options: Parameters<typeof scriptedExchange>[0] = {}) {
  const exchange = scriptedExchange(options);
  let n = 0;
  return {
    ...exchange,
    update: (args: unknown, status: "ok" | "not_run" = "ok") => {
      n += 1;
      exchange.call(`t${n}`, "update_tasks", args);
      exchange.result(`t${n}`, "update_tasks", { status });
    },
  };
}

it("[TASKS-8] [TASKS-9] shows the list above the progress, one row of it afterwards, and nothing once all is done", async () => {
  const { view, printed, live, started, update } = scripted();
  view.user("go");
  started();
  update(listOf("drp"));
  expect(live()).toEqual([
    "✓ task 1",
    "▸ task 2",
    "◦ task 3",
    expect.stringContaining("Thinking 0 s"),
  ]);
  update("nothing", "not_run");
  expect(live()).toHaveLength(4);
  await view.finish(DONE);
  expect(live()).toEqual(["▸ 1 of 3 done: task 2"]);
  // a change of the list is not part of what was explored
  expect(printed[2]).toBe("✓ update_tasks 1 of 3 done: task 2  [1]");
  view.user("more");
  started();
  update(listOf("ddd"));
  expect(live()).toHaveLength(4);
  await view.finish(DONE);
  expect(live()).toEqual([]);
});

it("[TASKS-8] shows of a long list what is around the first task that is open, in each size of the window", () => {
  const { started, update, live } = scripted();
  started();
  update(listOf(`${"d".repeat(20)}r${"p".repeat(29)}`));
  expect(live()).toEqual([
    "✓ task 20",
    "▸ task 21",
    "◦ task 22",
    "◦ task 23",
    "◦ task 24",
    "◦ task 25",
    "  … 20 of 50 done",
    expect.stringContaining("Thinking"),
  ]);
  expect(live(5)).toEqual(["▸ 20 of 50 done: task 21", expect.stringContaining("Thinking")]);
  expect(live(1)).toHaveLength(1);
});

it.each([40, 80])("[TASKS-3] [TASKS-8] fits into %i columns whatever a task says", (width) => {
  const { started, update, live } = scripted({ width });
  started();
  update(listOf("drpp", (n) => `${"\u202e漢字\u001b[2Jשלום ".repeat(30)}${n}`.slice(0, 300)));
  const rows = live();
  expect(rows).toHaveLength(5);
  expect(rows.join("")).not.toContain("\u001b");
  expect(rows.join("")).not.toContain("\u202e");
  expect(Math.max(...rows.map(visibleWidth))).toBeLessThanOrEqual(width);
});
