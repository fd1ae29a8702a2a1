import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, vi } from "vitest";

import { externalEditor } from "../../../../src/cli/terminal/editor/external-editor.ts";
import { temporaryFolder } from "../../../helpers/temp.ts";

const PATH = "/usr/bin:/bin";

function openIn(env: Readonly<Record<string, string>>, leaving = new AbortController().signal) {
  return externalEditor({
    screen: { outside: (work) => work() },
    env: { PATH, ...env },
    leaving,
  });
}

/** An editor as a program with spaces in its path, which must be called with `--wait`. */
function program(script: string): string {
  const folder = join(temporaryFolder(), "my editor");
  mkdirSync(folder);
  const file = join(folder, "edit");
  writeFileSync(file, `#!/bin/sh\n[ "$1" = --wait ] || exit 9\nshift\n${script}\n`, {
    mode: 0o700,
  });
  return `'${file}' --wait`;
}

/** Nobody writes into it: who reads it waits. */
function pipe(): string {
  const file = join(temporaryFolder(), "pipe");
  execFileSync("mkfifo", [file]);
  return file;
}

describe("[TERM-36] an external editor", () => {
  it("gets a private file and gives its text back, without the line feed at its end", async () => {
    const log = join(temporaryFolder(), "log");
    const EDITOR = program(
      `dirname "$1" > '${log}'; stat -c %a "$1" "$(dirname "$1")" >> '${log}'; cat "$1" >> '${log}'; echo 'new é' > "$1"`,
    );
    expect(await openIn({ EDITOR })("old\ntext")).toEqual({ text: "new é" });
    const [folder = "", ...rest] = readFileSync(log, "utf8").split("\n");
    expect(rest).toEqual(["600", "700", "old", "text"]);
    expect(existsSync(folder)).toBe(false);
  });

  it("is VISUAL before EDITOR, and may replace the file", async () => {
    const VISUAL = program(`echo two > "$1.new"; mv "$1.new" "$1"`);
    expect(await openIn({ VISUAL, EDITOR: "false" })("one")).toEqual({ text: "two" });
  });

  it.each([
    [{}, "No editor is set. Set VISUAL or EDITOR, such as EDITOR=nano."],
    [{ EDITOR: "  " }, "No editor is set. Set VISUAL or EDITOR, such as EDITOR=nano."],
    [{ EDITOR: "false" }, 'The editor "false" ended with exit code 1; the message is as before.'],
    [
      { EDITOR: "no-such-editor" },
      'The editor "no-such-editor" ended with exit code 127; the message is as before. Check VISUAL and EDITOR.',
    ],
    [
      { EDITOR: "kill -9 $$;" },
      'The editor "kill -9 $$;" ended by SIGKILL; the message is as before.',
    ],
    [{ EDITOR: "rm" }, "The editor left no file, or one of over 8 MiB; the message is as before."],
    [
      { EDITOR: `sh -c "printf '\\377' > \\$1" -` },
      "The file is not text in UTF-8; the message is as before.",
    ],
  ])("that does not work leaves the text: %o", async (env, problem) => {
    expect(await openIn(env)("text")).toEqual({ problem });
  });

  it("[TERM-110] ends when the program is asked to end, and its file is removed", async () => {
    const leaving = new AbortController();
    const folder = temporaryFolder();
    const [EDITOR, log] = [join(folder, "edit"), join(folder, "log")];
    writeFileSync(EDITOR, `#!/bin/sh\necho "$1" > '${log}'\nread line < '${pipe()}'\n`, {
      mode: 0o700,
    });
    const opened = openIn({ EDITOR }, leaving.signal)("text");
    await vi.waitFor(() => expect(readFileSync(log, "utf8")).toMatch(/\n/));
    leaving.abort();
    expect(await opened).toEqual({ problem: expect.stringMatching(/ended by SIGTERM; /) });
    expect(existsSync(readFileSync(log, "utf8").trim())).toBe(false);
  });
});
