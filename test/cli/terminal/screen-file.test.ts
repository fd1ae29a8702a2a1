import { expect, it } from "vitest";

import { withoutTimes } from "../../helpers/screen-file.ts";

it("a recorded screen is the same on a slow machine: without the times of what took long", () => {
  const quick = ["> change", "", "✓ read_file notes.txt  [1]", "✗ run_command  exit 1  [2]"];
  const slow = [
    "> change",
    "",
    "✓ read_file notes.txt  0.4 s  [1]",
    "✗ run_command  exit 1  3 min 5 s  [2]",
    "",
    "done in 4 min 2 s · 310 tokens in, 12 out",
  ];
  expect(withoutTimes(slow)).toEqual(quick);
  expect(withoutTimes(quick)).toEqual(quick);
  // text with a time stays
  expect(withoutTimes(["wait  5 s  [1]", "✓ a  5 s later"])).toHaveLength(2);
});
