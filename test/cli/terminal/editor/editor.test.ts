import xterm from "@xterm/headless";
import { describe, expect, it, vi } from "vitest";

import {
  createEditor,
  type EditorOptions,
  type Message,
} from "../../../../src/cli/terminal/editor/editor.ts";
import { fileCompletions } from "../../../../src/cli/terminal/editor/file-completions.ts";
import { slashCompletions } from "../../../../src/cli/terminal/editor/slash-completions.ts";
import { type HistoryEntry, openHistory } from "../../../../src/cli/chat/history.ts";
import { firstOf } from "../../../../src/cli/terminal/editor/completion.ts";
import { plainTheme } from "../plain-theme.ts";

const INVERSE = "\u001b[7m";
const NOT_INVERSE = "\u001b[27m";
const ENTER = "\r";
const ESC = "\u001b";
const TAB = "\t";
const UP = "\u001b[A";
const DOWN = "\u001b[B";
const LEFT = "\u001b[D";
const RIGHT = "\u001b[C";
const BACKSPACE = "\u007f";
const CTRL = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96);
const UNDO = "\u001f";

const NO_EDITOR: EditorOptions["edit"] = async () => ({ problem: "No editor is set." });

interface Given {
  readonly columns?: number;
  readonly height?: number;
  readonly edit?: EditorOptions["edit"];
  readonly history?: readonly HistoryEntry[];
  readonly paths?: readonly string[];
}

function openEditor({ columns = 40, height = 24, edit = NO_EDITOR, ...given }: Given = {}) {
  const notes: string[] = [];
  const sent: Message[] = [];
  const history = openHistory({ file: null, secrets: async () => [] });
  for (const entry of given.history ?? []) {
    history.add(entry);
  }
  const commands = slashCompletions({
    commands: [
      { name: "model", argument: "<provider:model>", help: "answer with another model" },
      { name: "permission", argument: "<mode>", help: "show the rules, set the mode" },
      { name: "plan", argument: "on|off", help: "planning mode" },
      { name: "exit", help: "leave; the session is kept" },
    ],
    values: {
      permission: async () => [{ value: "ask" }, { value: "auto", help: "in a \u001b[31msandbox" }],
      model: async () => Promise.reject(new Error("the config is invalid")),
    },
    changed: () => undefined,
  });
  const files = fileCompletions({ version: () => 0, paths: () => given.paths ?? [] });
  const editor = createEditor({
    theme: plainTheme,
    history,
    completions: firstOf([commands, files]),
    changed: () => undefined,
    edit,
    on: { submit: (message) => sent.push(message), note: (sentence) => notes.push(sentence) },
  });
  const type = (text: string): void => {
    for (const character of text) {
      expect(editor.key(character)).toBe(true);
    }
  };
  const keys = (...pressed: readonly string[]): boolean[] => pressed.map((key) => editor.key(key));
  /** The cursor is shown as `▮` before the character that it is on. */
  const rows = (): string[] =>
    editor
      .rows(columns, height)
      .map((row) => row.replace(`${INVERSE} ${NOT_INVERSE}`, "▮").replace(INVERSE, "▮"))
      .map((row) => row.replace(NOT_INVERSE, "").trimEnd());
  return { editor, sent, notes, type, keys, rows };
}

it.each([
  [23, 8],
  [14, 8],
  [8, 4],
  [4, 1],
])(
  "[TERM-191] lists what is found, in a window of %i rows %i of it and its place",
  (height, most) => {
    const paths = Array.from({ length: 20 }, (_, index) => `src/file-${index + 10}.ts`);
    const { type, keys, rows } = openEditor({ height, paths });
    type("@file");
    const listed = rows().slice(1);
    expect(listed).toHaveLength(most + (height < 5 ? 0 : 1));
    expect(listed[0]).toBe("› src/file-10.ts");
    expect(rows().length).toBeLessThan(height);
    if (height >= 5) {
      expect(listed.at(-1)).toBe("  1 of 20");
      keys(DOWN, DOWN);
      expect(rows().at(-1)).toBe("  3 of 20");
      type("-1");
      expect(rows().at(-1)).toBe("  1 of 10");
      // all of a short list is shown, without a count
      type("1");
      expect(rows().slice(1)).toEqual(["› src/file-11.ts"]);
    }
  },
);

describe("[TERM-30] a message of several lines", () => {
  it.each([
    ["Ctrl-J", "\n"],
    ["Alt-Enter", "\u001b\r"],
    ["Shift-Enter of the Kitty protocol", "\u001b[13;2u"],
    ["Shift-Enter of xterm", "\u001b[27;2;13~"],
  ])("gets a line break by %s", (_, key) => {
    const { keys, type, rows, sent } = openEditor();
    type("one");
    keys(key);
    type("two");
    expect(rows()).toEqual(["> one", "  two▮"]);
    keys(ENTER);
    expect(sent).toEqual([{ text: "one\ntwo", pasted: false }]);
    expect(rows()).toEqual([">▮".replace(">", "> ")]);
  });

  it("gets one by a typed backslash at the end, of which two are text", () => {
    const { keys, type, sent } = openEditor();
    type("one\\");
    keys(ENTER);
    type("C:\\\\");
    keys(ENTER);
    expect(sent).toEqual([{ text: "one\nC:\\\\", pasted: false }]);
  });

  it("does not take a pasted backslash for one", () => {
    const { editor, keys, sent } = openEditor();
    editor.paste("end \\");
    keys(ENTER);
    expect(sent).toEqual([{ text: "end \\", pasted: true }]);
  });

  it("is not sent while it is blank", () => {
    const { keys, type, sent } = openEditor();
    type("  ");
    keys(ENTER);
    expect(sent).toEqual([]);
  });

  it("uses a third of the rows, marks that there is more, and scrolls with the cursor", () => {
    const { keys, type, rows } = openEditor({ height: 12 });
    type("1\n2\n3\n4\n5\n6");
    expect(rows()).toEqual(["↑ 3", "  4", "  5", "  6▮"]);
    keys(UP, UP, UP, UP);
    expect(rows()).toEqual(["↑ 2▮", "  3", "  4", "↓ 5"]);
    keys(UP);
    expect(rows()).toEqual(["> 1▮", "  2", "  3", "↓ 4"]);
    expect(keys(UP, UP)).toEqual([true, false]);
    keys("\u001b[6~");
    expect(rows()).toEqual(["↑ 2", "  3", "  4", "↓ ▮5"]);
  });

  it("wraps at words, and within longer ones, by columns", () => {
    const { type, rows } = openEditor({ columns: 13 });
    type("hello wide 日本語テキスト end");
    expect(rows()).toEqual(["> hello wide", "  日本語テキ", "  スト end▮"]);
  });

  it("keeps the column over shorter rows", () => {
    const { keys, type, rows } = openEditor();
    type("abcdef\nx\nabcdef");
    keys(LEFT, UP, UP);
    expect(rows()).toEqual(["> abcde▮f", "  x", "  abcdef"]);
    keys(DOWN, DOWN);
    expect(rows()).toEqual(["> abcdef", "  x", "  abcde▮f"]);
  });
});

describe("[TERM-31] a paste", () => {
  const lines = Array.from({ length: 4000 }, (_, n) => `line ${n}`).join("\n");

  it("of 4,000 lines is a chip, and is sent in full with what is typed around it", () => {
    const { editor, keys, type, rows, sent } = openEditor();
    type("see ");
    editor.paste(lines);
    type(" and");
    editor.paste("x".repeat(501));
    expect(rows()).toEqual(["> see [paste #1 +4000 lines]", "  and[paste #2 501 characters]▮"]);
    keys(ENTER);
    expect(sent).toEqual([{ text: `see ${lines} and${"x".repeat(501)}`, pasted: true }]);
  });

  it("that is short is shown, with line feeds only", () => {
    const { editor, rows, keys, sent } = openEditor();
    editor.paste("a\r\n\tb\rc");
    expect(rows()).toEqual(["> a", "      b", "  c▮"]);
    keys(ENTER);
    expect(sent).toEqual([{ text: "a\n\tb\nc", pasted: true }]);
  });

  it("with control characters, marks of a paste and of direction is shown safely and sent exactly", () => {
    const { editor, rows, keys, sent } = openEditor();
    const text = "\u001b[201~\u001b[31mred\u0007\u202eevil\u{100000}";
    editor.paste("\u001b[201~\u001b[31mred\u0007\u202eevil");
    expect(rows()).toEqual(["> ␛[201~␛[31mred␇<U+202E>evil▮"]);
    editor.paste("\u{100000}");
    expect(rows()[0]).toBe("> ␛[201~␛[31mred␇<U+202E>evil");
    keys(ENTER);
    expect(sent).toEqual([{ text, pasted: true }]);
  });

  it("is never a command, but may be the argument of a typed one", () => {
    const { editor, keys, type, sent } = openEditor();
    editor.paste("/end");
    keys(ENTER);
    type("/model ");
    editor.paste("mock:one");
    keys(ENTER);
    type("/model ");
    editor.paste("mock:one\n/end");
    keys(ENTER);
    type("!");
    editor.paste("ls");
    keys(ENTER);
    expect(sent.map(({ pasted }) => pasted)).toEqual([true, false, true, false]);
  });

  it("stays one when it is killed and yanked, undone, or set again", () => {
    const { editor, keys, type, sent } = openEditor();
    editor.paste("/end");
    keys(CTRL("u"));
    expect(editor.isEmpty()).toBe(true);
    expect(editor.message().pasted).toBe(false);
    keys(CTRL("y"));
    expect(editor.message()).toEqual({ text: "/end", pasted: true });
    expect(editor.clear()).toBe(1);
    expect(editor.message()).toEqual({ text: "", pasted: false });
    keys(UNDO);
    const message = editor.message();
    expect(message).toEqual({ text: "/end", pasted: true });
    editor.clear();
    editor.set(message);
    type("!");
    keys(ENTER);
    expect(sent).toEqual([{ text: "/end!", pasted: true }]);
  });

  it("that was killed can be yanked into the next message, and is not taken for a new one", () => {
    const { editor, keys, type, sent } = openEditor();
    editor.paste("x\n".repeat(9));
    keys(CTRL("u"));
    type("first");
    keys(ENTER);
    editor.paste("y\n".repeat(9));
    keys(CTRL("y"), ENTER);
    expect(sent.map(({ text }) => text)).toEqual(["first", "y\n".repeat(9) + "x\n".repeat(9)]);
  });

  it("of 1 MiB costs no more with each key", () => {
    const { editor, keys, rows, sent } = openEditor();
    const text = "word and word\n".repeat(80_000);
    editor.paste(text);
    for (let n = 0; n < 500; n += 1) {
      keys("a", " ");
      rows();
    }
    keys(ENTER);
    expect(sent[0]?.text).toBe(text + "a ".repeat(500));
  });
});

describe("[TERM-32] editing", () => {
  it("takes characters with all their parts, and a chip as one", () => {
    const { editor, keys, type, rows } = openEditor();
    type("a👩‍👩‍👧‍👦é");
    editor.paste("x\n".repeat(9));
    keys(LEFT, BACKSPACE);
    expect(rows()).toEqual(["> a👩‍👩‍👧‍👦▮[paste #1 +10 lines]"]);
    keys("\u001b[3~", BACKSPACE);
    expect(rows()).toEqual(["> a▮"]);
    keys(UNDO, UNDO);
    expect(editor.message().text).toBe(`a👩‍👩‍👧‍👦${"x\n".repeat(9)}`);
  });

  it("moves and kills words, and yanks them again", () => {
    const { keys, type, rows } = openEditor();
    type("one two three");
    keys("\u001bb", "\u001b[1;5D", CTRL("k"));
    expect(rows()).toEqual(["> one ▮"]);
    keys(CTRL("w"), CTRL("y"), CTRL("y"));
    expect(rows()).toEqual(["> one two threeone two three▮"]);
    keys(CTRL("a"), CTRL("k"), CTRL("y"), "\u001by");
    expect(rows()).toEqual(["> one two three▮"]);
  });

  it("joins lines at their ends", () => {
    const { keys, type, rows } = openEditor();
    type("a\nb\nc");
    keys(UP, CTRL("a"), BACKSPACE);
    expect(rows()).toEqual(["> a▮b", "  c"]);
    keys(RIGHT, CTRL("k"));
    expect(rows()).toEqual(["> ab▮c"]);
  });

  it("undoes a word at a time", () => {
    const { keys, type, rows } = openEditor();
    type("one two three");
    keys(UNDO);
    expect(rows()).toEqual(["> one two▮"]);
    keys(UNDO, UNDO);
    expect(rows()).toEqual(["> ▮"]);
  });

  it("takes characters of the Kitty protocol", () => {
    const { keys, rows } = openEditor();
    keys("\u001b[97u", "\u001b[97:65;2u", "\u001b[32;2u", "b");
    expect(rows()).toEqual(["> aA b▮"]);
  });

  it.each([
    ["Esc", "\u001b"],
    ["Ctrl-C", CTRL("c")],
    ["Ctrl-D", CTRL("d")],
    ["Ctrl-O", CTRL("o")],
    ["Ctrl-Z", CTRL("z")],
    ["F5", "\u001b[15~"],
    ["an unknown sequence", "\u001b[999~"],
    ["NUL", "\u0000"],
  ])("leaves %s to what is around the editor", (_, key) => {
    const { editor, rows } = openEditor();
    expect(editor.key(key)).toBe(false);
    expect(rows()).toEqual(["> ▮"]);
  });
});

const typed = (text: string): HistoryEntry => ({ text, pasted: false });

describe("[TERM-33] the history", () => {
  it("is walked by Up and Down, back to what was being written", () => {
    const { editor, keys, type, rows } = openEditor({ history: [typed("first"), typed("a\nb")] });
    type("new");
    keys(UP);
    expect(rows()).toEqual(["> ▮new"]);
    keys(UP);
    expect(rows()).toEqual(["> a▮", "  b"]);
    keys(UP);
    expect(rows()).toEqual(["> first▮"]);
    expect(editor.key(UP)).toBe(false);
    keys(DOWN);
    expect(rows()).toEqual(["> a", "  b▮"]);
    keys(DOWN);
    expect(rows()).toEqual(["> ▮new"]);
    expect(keys(DOWN, DOWN)).toEqual([true, false]);
  });

  it("gets what is sent, once if it is sent again, and a changed entry is a new message", () => {
    const { keys, type, rows, sent } = openEditor({ history: [typed("first")] });
    keys(UP);
    type("!");
    keys(ENTER);
    keys(UP, ENTER);
    keys(UP, UP);
    expect(rows()).toEqual(["> first▮"]);
    expect(sent.map(({ text }) => text)).toEqual(["first!", "first!"]);
  });

  it("shows the latest message after it was walked without a result", () => {
    const { keys, type, rows } = openEditor({ history: [typed("first")] });
    keys(UP, DOWN);
    type("second");
    keys(ENTER, UP);
    expect(rows()).toEqual(["> second▮"]);
  });

  it("remembers what was pasted, and shows it as a chip again", () => {
    const text = "x\n".repeat(4000);
    const { keys, rows, sent } = openEditor({
      history: [
        { text: "/end", pasted: true },
        { text, pasted: true },
      ],
    });
    keys(UP);
    expect(rows()).toEqual(["> [paste #1 +4001 lines]▮"]);
    keys(UP, ENTER);
    expect(sent).toEqual([{ text: "/end", pasted: true }]);
  });
});

describe("[TERM-34] Ctrl-R", () => {
  const history = [typed("npm test"), typed("fix the test\nand the docs"), typed("hello")];

  it("searches while it is typed, and Enter takes the match into the editor", () => {
    const { keys, type, rows, sent } = openEditor({ columns: 60, history });
    type("draft");
    keys(CTRL("r"));
    type("TEST");
    expect(rows()).toEqual([
      "search: TEST▮   Enter takes it, Ctrl-R older, Esc ends",
      "  fix the test",
      "  and the docs",
    ]);
    keys(CTRL("r"), CTRL("r"));
    expect(rows().slice(1)).toEqual(["  npm test"]);
    keys(ENTER);
    expect(rows()).toEqual(["> npm test▮"]);
    expect(sent).toEqual([]);
    keys(UNDO);
    expect(rows()).toEqual(["> draft▮"]);
  });

  it.each([
    ["Esc", ESC],
    ["Ctrl-C", CTRL("c")],
  ])("ends by %s, with the draft as it was", (_, key) => {
    const { editor, keys, type, rows } = openEditor({ history });
    type("draft");
    keys(CTRL("r"));
    type("nothing");
    expect(rows()).toEqual(["search: nothing▮", "  no match"]);
    expect(editor.isCompleting()).toBe(true);
    expect(editor.key(key)).toBe(true);
    expect(rows()).toEqual(["> draft▮"]);
    expect(editor.key(key)).toBe(false);
  });
});

describe("[TERM-35] commands after /", () => {
  it("are listed with their arguments and one line each", () => {
    const { type, rows } = openEditor({ columns: 60 });
    type("/");
    expect(rows()).toEqual([
      "> /▮",
      "› /model <provider:model>  answer with another model",
      "  /permission <mode>       show the rules, set the mode",
      "  /plan on|off             planning mode",
      "  /exit                    leave; the session is kept",
    ]);
    type("pl");
    expect(rows()).toEqual(["> /pl▮", "› /plan on|off  planning mode"]);
  });

  it("fit 40 columns and less", () => {
    const { type, rows } = openEditor({ columns: 30 });
    type("/");
    expect(rows()[1]).toBe("› /model <provider:model>");
    expect(openEditor({ columns: 10 }).rows()).toEqual(["> ▮"]);
  });

  it("are sent at once by Enter if they take nothing, else completed", () => {
    const { keys, type, rows, sent } = openEditor();
    type("/ex");
    keys(ENTER);
    expect(sent).toEqual([{ text: "/exit", pasted: false }]);
    type("/mo");
    keys(ENTER);
    expect(rows()).toEqual(["> /model ▮"]);
    keys(ENTER);
    expect(sent.at(-1)?.text).toBe("/model ");
  });

  it("offer their values, which Enter takes before it sends", async () => {
    const { editor, keys, type, rows, sent } = openEditor();
    type("/per");
    keys(TAB);
    await vi.waitUntil(() => editor.isCompleting());
    expect(rows()).toEqual(["> /permission ▮", "› ask", "  auto          in a ␛[31msandbox"]);
    keys(DOWN, ENTER);
    expect(rows()).toEqual(["> /permission auto▮"]);
    expect(sent).toEqual([]);
    keys(ENTER);
    expect(sent).toEqual([{ text: "/permission auto", pasted: false }]);
  });

  it("close by Esc first, and stay closed for a pasted message and further lines", () => {
    const { editor, keys, type, rows } = openEditor();
    type("/");
    expect(editor.key(ESC)).toBe(true);
    expect(rows()).toEqual(["> /▮"]);
    expect(editor.key(ESC)).toBe(false);
    editor.clear();
    editor.paste("/");
    type("p");
    expect(editor.isCompleting()).toBe(false);
    editor.clear();
    type("a\n/");
    expect(editor.isCompleting()).toBe(false);
    expect(keys(TAB)).toEqual([false]);
  });
});

describe("[TERM-37] files after @", () => {
  const paths = [
    "docs/",
    "src/",
    "docs/my plan.md",
    "src/editor.ts",
    "src/old/editing.md",
    "editor",
  ];

  it("are found by name, then by path, then by letters, and inserted with a space", () => {
    const { keys, type, rows, sent } = openEditor({ paths });
    type("see @edi");
    expect(rows()).toEqual(["> see @edi▮", "› editor", "  src/editor.ts", "  src/old/editing.md"]);
    keys(DOWN, TAB);
    expect(rows()).toEqual(["> see @src/editor.ts ▮"]);
    type("and @dmp");
    keys(ENTER);
    expect(rows()).toEqual(['> see @src/editor.ts and @"docs/my', '  plan.md" ▮']);
    keys(ENTER);
    expect(sent[0]?.text).toBe('see @src/editor.ts and @"docs/my plan.md" ');
  });

  it("continue within a folder", () => {
    const { keys, type, rows } = openEditor({ paths });
    type("@docs");
    keys(TAB);
    expect(rows()).toEqual(["> @docs/▮", "› docs/", "  docs/my plan.md"]);
    keys(DOWN, TAB);
    expect(rows()).toEqual(['> @"docs/my plan.md" ▮']);
  });

  it("are not offered within a word, and Enter sends what matches nothing", () => {
    const { editor, keys, type, sent } = openEditor({ paths });
    type("me@ed");
    expect(editor.isCompleting()).toBe(false);
    type(" @xyz");
    keys(ENTER);
    expect(sent[0]?.text).toBe("me@ed @xyz");
  });

  it("are found fast among 20,000", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => `packages/p${n % 100}/src/file${n}.ts`);
    const { type, rows } = openEditor({ columns: 20, paths: many });
    type("@p7file19907");
    expect(rows().slice(1)).toEqual(["› …/src/file19907.ts"]);
  });
});

describe("[TERM-36] the person's own editor", () => {
  it("gets the whole text, and what comes back is never a command", async () => {
    const given: string[] = [];
    const edit = async (text: string) => {
      given.push(text);
      return { text: "/end" };
    };
    const { editor, type } = openEditor({ edit });
    type("hi ");
    editor.paste("x\n".repeat(9));
    editor.key(CTRL("g"));
    // a key before the editor has the terminal
    editor.key("y");
    await expect.poll(() => editor.message()).toEqual({ text: "/end", pasted: true });
    expect(given).toEqual([`hi ${"x\n".repeat(9)}`]);
  });

  it("leaves the text if it fails, and says why", async () => {
    const { editor, notes, type, rows } = openEditor();
    type("kept");
    editor.key(CTRL("g"));
    await vi.waitUntil(() => notes.length > 0);
    expect(notes).toEqual(["No editor is set."]);
    expect(rows()).toEqual(["> kept▮"]);
  });
});

describe("[TERM-39] on a terminal", () => {
  it("each row is one row, however wide its characters are", async () => {
    const columns = 20;
    const terminal = new xterm.Terminal({ cols: columns, rows: 24, allowProposedApi: true });
    const { editor, type } = openEditor({ columns, height: 60 });
    type("日本語日本語日本語日本語 e\u0301e\u0301 한국어");
    editor.paste("\u001b[2J\u202e\u0007 café ไทย हिन्दी");
    editor.paste("y".repeat(501));
    const rows = editor.rows(columns, 60);
    await new Promise<void>((resolve) => terminal.write(rows.join("\r\n"), resolve));
    const drawn = rows.map((_, row) =>
      terminal.buffer.active.getLine(row)?.translateToString(true).trimEnd(),
    );
    const plain = rows.map((row) => row.replace(INVERSE, "").replace(NOT_INVERSE, "").trimEnd());
    expect(drawn).toEqual(plain);
    expect(terminal.buffer.active.cursorY).toBe(rows.length - 1);
    terminal.dispose();
  });
});
