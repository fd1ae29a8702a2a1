import { expect, it } from "vitest";

import type { Greeting } from "../../../src/cli/chat/greeting.ts";
import { simpleText } from "../../../src/cli/terminal/pi/cell-text.ts";
import { keyRows } from "../../../src/cli/terminal/editor/key-rows.ts";
import { startRows } from "../../../src/cli/terminal/start-rows.ts";
import { plainTheme as theme } from "./plain-theme.ts";

const NEW: Greeting = {
  version: "1.2.3",
  agent: null,
  persona: "assistant",
  model: "openai:gpt-5.1",
  folder: { path: "/home/ada/shop", sentence: "Folder /home/ada/shop", isLimited: false },
  session: null,
  notes: [],
};

function rows(
  change: Partial<Greeting>,
  { width = 80, mode = "ask", branch = "main" }: Partial<Parameters<typeof startRows>[1]> = {},
): string[] {
  const options = { width, text: simpleText, theme, mode, branch, home: "/home/ada" };
  return startRows({ ...NEW, ...change }, options);
}

it("[TERM-207] says in three rows who answers where, what asks and which keys there are", () => {
  expect(rows({})).toEqual([
    "reprise 1.2.3   ~/shop (main)                                     openai:gpt-5.1",
    "ask: each change and command asks                         Shift-Tab changes this",
    "/ commands   @ files   ! shell   ? keys",
  ]);
});

it("[TERM-207] takes one more row in a narrow terminal, and leaves out the key that the status line names", () => {
  const narrow = rows({}, { width: 40 });
  expect(narrow).toEqual([
    "reprise 1.2.3   ~/shop (main)",
    "openai:gpt-5.1",
    "ask: each change and command asks",
    "/ commands   @ files   ! shell   ? keys",
  ]);
  expect(Math.max(...narrow.map((row) => row.length))).toBeLessThanOrEqual(40);
});

it("[TERM-207] names a session, a persona, and what is not possible in the folder", () => {
  const folder = { path: "/", sentence: "Folder / · too wide for file tools", isLimited: true };
  const session = {
    thread: "abcdef20-0000-4000-8000-000000000000:1",
    messages: 9,
    title: "T\u001b",
  };
  expect(
    rows(
      { folder, session, persona: "reviewer", notes: ["A note."] },
      { mode: "all", branch: null },
    ),
  ).toEqual([
    "reprise 1.2.3   /                                      reviewer · openai:gpt-5.1",
    "Folder / · too wide for file tools",
    "Session abcdef20 · 9 messages · T␛",
    "all: nothing asks but changes of protected files          Shift-Tab changes this",
    "/ commands   @ files   ! shell   ? keys",
    "A note.",
  ]);
});

it("[TERM-207] shows no mode that is not known, and cleans what a repository calls a branch", () => {
  expect(rows({ agent: "graph.ts", folder: null, model: null }, { mode: null })).toEqual([
    `reprise 1.2.3${"graph.ts".padStart(67)}`,
    "/ commands   @ files   ! shell   ? keys",
  ]);
  expect(rows({}, { branch: `\u001b[2J${"x".repeat(100)}` })[0]).toMatch(/\(␛\[2Jx{36}\)/);
});

it("[TERM-209] lists the keys in rows that fit", () => {
  for (const width of [20, 40, 80, 200]) {
    const shown = keyRows({ theme, width });
    expect(shown).toHaveLength(width < 80 ? 12 : 6);
    expect(Math.max(...shown.map((row) => row.length))).toBeLessThanOrEqual(width);
  }
  expect(keyRows({ theme, width: 40 })[3]).toBe(
    `${"Shift-Tab".padEnd(13)}${"ask, edits, auto, plan".padEnd(27)}`,
  );
});
