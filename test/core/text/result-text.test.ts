import { expect, it } from "vitest";

import { failureText, reasonOf } from "../../../src/core/text/result-text.ts";

it("[PAGE-62] [CLI-96] a person is shown the reason alone, in one line", () => {
  expect(reasonOf(failureText("no such file"))).toBe("no such file");
  expect(reasonOf(`${failureText("no such file")}\nmore`)).toBe("no such file");
  expect(reasonOf("stopped\nmore")).toBe("stopped");
  expect(reasonOf("x".repeat(5000))).toHaveLength(1000);
  expect(reasonOf("")).toBe("");
});
