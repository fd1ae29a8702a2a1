import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { manualPage } from "../../build/manual.ts";

it("[TERM-85] the manual page lists every command with its options, and is valid (mandoc, if it is installed)", async () => {
  const page = await manualPage(fileURLToPath(new URL("../..", import.meta.url)));
  for (const line of [
    ".SS reprise sessions list",
    ".SS reprise sessions show <id>",
    ".SS reprise copy",
    ".SS reprise trust add [folder]",
    ".B \\-\\-permission <mode>",
    ".B \\-\\-state <state>",
    ".SH EXIT STATUS",
  ]) {
    expect(page.split("\n")).toContain(line);
  }
  expect(page).not.toMatch(/[^\n\x20-\x7e]/);
  expect(page).not.toContain("reprise complete ");
  const { error, status, stdout } = spawnSync("mandoc", ["-Tlint"], {
    input: page,
    encoding: "utf8",
  });
  if (error === undefined) {
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  }
});
