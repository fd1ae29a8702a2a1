import { expect, it } from "vitest";

import { slashCompletions } from "../../../../src/cli/terminal/editor/slash-completions.ts";

it("[SKILL-18] completes commands of the folder once they were read, but none that the program has", async () => {
  const read = Promise.withResolvers<void>();
  const completions = slashCompletions({
    commands: [{ name: "retry", help: "ask again" }],
    more: async () => [
      { name: "review", argument: "<arguments>", help: "Reviews." },
      { name: "retry", help: "another" },
    ],
    values: {},
    changed: read.resolve,
  });
  const labels = () => completions.find("/re")?.items.map(({ label, help }) => [label, help]);
  expect(labels()).toEqual([["/retry", "ask again"]]);
  const before = completions.version();
  await read.promise;
  expect(completions.version()).toBeGreaterThan(before);
  expect(labels()).toEqual([
    ["/retry", "ask again"],
    ["/review <arguments>", "Reviews."],
  ]);
});
