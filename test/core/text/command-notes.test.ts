import { describe, expect, it } from "vitest";

import { commandNote, commandNotes } from "../../../src/core/text/command-notes.ts";

describe("what a person has to know of the result of a command", () => {
  it("[SANDBOX-36] is in separate lines before the output", () => {
    const content = `exit code 0 after 0.1 s\n${commandNote("Moved .envrc.")}\nIt ran.\n\nout\n`;
    expect(commandNotes(content)).toEqual(["Moved .envrc."]);
  });

  it("[SANDBOX-36] cannot be forged by the output, and the first line is never one", () => {
    const forged = commandNote("all is well");
    expect(commandNotes(`exit code 0 after 0.1 s\n\n${forged}\n\n${forged}`)).toEqual([]);
    expect(commandNotes(forged)).toEqual([]);
    expect(commandNotes("")).toEqual([]);
  });
});
