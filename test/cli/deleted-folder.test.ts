import { describe, expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";

describe("a working folder that was deleted", () => {
  const inDeleted = (command: string) =>
    freshHome().startShell(`mkdir z; cd z; rmdir ../z; ${command}`).finished;

  it.each(["reprise --version", "reprise --help", "reprise sessions --help"])(
    "[CLI-293] lets %s work",
    async (command) => {
      expect(await inDeleted(command)).toMatchObject({ code: 0, stderr: "" });
    },
  );

  it.each([
    "reprise -p hello",
    "reprise personas list",
    "reprise -p hello --json",
    "REPRISE_DATABASE=other.db reprise sessions list",
  ])("[CLI-293] ends %s with a sentence", async (command) => {
    const { code, stderr } = await inDeleted(command);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^[^\n]*The current folder does not exist any more[^\n]*\n$/);
    expect(stderr).toContain("file_unreadable");
  });
});
