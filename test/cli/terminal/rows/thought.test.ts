import { expect, it } from "vitest";

import { createScriptedThoughts, DONE } from "./scripted-thoughts.ts";

it("[TERM-152] says that the model thinks, then for how long it did, and keeps what it thought", async () => {
  const { view, printed, clock, live, started, reasoning, text } = createScriptedThoughts();
  started();
  reasoning("a1", "the user \u001b[31mwants");
  clock.ms = 1500;
  expect(live().at(-1)).toContain("Thinking 1 s");
  reasoning("a1", " this\nand that");
  clock.ms = 12_300;
  text("a1", "Hello.");
  await view.finish(DONE);
  expect(printed.slice(0, 3)).toEqual(["thought for 12 s  [1]", "", "Hello."]);
  expect(view.details()).toEqual({
    title: "thought for 12 s",
    rows: ["the user ␛[31mwants this", "and that"],
  });
});

it("[TERM-152] thinking that is not shown has its time alone", async () => {
  const { view, printed, clock, started, reasoning, call, result } = createScriptedThoughts();
  started();
  reasoning("a1", "");
  clock.ms = 3000;
  call("1", "write_file", { path: "a.ts" });
  result("1", "write_file");
  await view.finish(DONE);
  expect(printed.slice(0, 2)).toEqual(["thought for 3 s", "✓ write_file a.ts  [1]"]);
});

it("[TERM-152] what an attempt thought that failed is not shown", async () => {
  const { view, printed, started, reasoning, retry, text } = createScriptedThoughts();
  started();
  reasoning("a1", "in vain");
  retry("a1");
  text("a2", "Hello.");
  await view.finish(DONE);
  expect(printed[0]).toBe("Hello.");
});
