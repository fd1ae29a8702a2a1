import { describe, expect, it } from "vitest";

import { type Choice, MAX_ANSWER, type PermissionChoice } from "../../../../src/core/questions.ts";
import {
  admissionChoices,
  editsChoice,
  folderChoice,
  limitChoices,
  offeredChoices,
  permissionChoices,
  permissionLabel,
} from "../../../../src/core/text/words.ts";
import type { QuestionOutcome } from "../../../../src/cli/terminal/questions/asked-question.ts";
import { createQuestionView } from "../../../../src/cli/terminal/questions/question-view.ts";
import { visibleWidth } from "../../../../src/cli/terminal/pi/text.ts";
import {
  type Asked,
  asked,
  CHANGE,
  CHILD,
  CHOICE,
  type Question,
  ROOT,
  TEXT,
} from "../../../helpers/asked-question.ts";
import { KEYS, viewScreen } from "../../../helpers/terminal-view.ts";
import { plainTheme } from "../plain-theme.ts";

const RULE = "edit_file(a.txt)";
/** As a terminal offers them: its own after those of the question. */
const WITH_FOLDER = [...permissionChoices([RULE]), folderChoice(RULE)];

/** What a person chose of these. */
function chosen(choices: readonly Choice[], id: string): QuestionOutcome {
  return { choice: id, text: choices.find((each) => each.id === id)?.label ?? "", note: null };
}

const allowed = (id: PermissionChoice, note: string | null = null): QuestionOutcome => ({
  choice: id,
  text: permissionLabel(id),
  note,
});
const once = allowed("allow_once");
const exchange = allowed("allow_exchange");
const session = allowed("allow_session");
const no = allowed("deny");

const HUNDRED = offeredChoices(Array.from({ length: 100 }, (_, at) => `c${at + 1}`));

/** Milliseconds a key: at any speed, unless it begins with what needs no Enter. */
function speedsOf(text: string): readonly number[] {
  return /^[no]/.test(text) ? [0, 200, 450] : [0, 200, 450, 600, 5000];
}

describe("the keys of a question", () => {
  const config = { question: CHANGE, choices: WITH_FOLDER };
  const files = { question: { ...CHANGE, choices: permissionChoices(null, { each: true }) } };
  const limit: Asked = {
    question: { ...CHANGE, kind: "limit", choices: limitChoices("100 more tokens") },
  };
  const admission: Asked = {
    question: { ...CHANGE, kind: "messages", choices: admissionChoices() },
  };
  const many = {
    question: { ...CHOICE, choices: HUNDRED },
    size: { width: 80, height: 120 },
  };
  const inWords = (text: string): QuestionOutcome => ({ choice: null, text, note: null });
  const ofModel = (id: string): QuestionOutcome => chosen(CHOICE.choices ?? [], id);

  it.each<[string, Asked, string, QuestionOutcome | null]>([
    ["a change", {}, "y", null],
    ["a change", {}, "y enter", once],
    ["a change", {}, "Y enter", once],
    ["a change", {}, "y esc enter", null],
    ["a change", {}, "y n enter", no],
    ["a change", {}, "e", null],
    ["a change", {}, "e enter", exchange],
    ["a change", {}, "s enter", session],
    ["a change", {}, "s esc enter", null],
    ["a change", {}, "s y enter", null],
    ["a change", {}, "s esc y enter", once],
    ["a change", {}, "f", null],
    ["a change", {}, "d", null],
    ["a change", {}, "1", null],
    ["a change", {}, "enter", null],
    ["a change", {}, "enter enter y enter", once],
    ["a change", {}, "n", null],
    ["a change", {}, "n enter", no],
    ["a change", {}, "n u s e enter", allowed("deny", "use")],
    ["a change", {}, "n y esc y enter", once],
    ["a change", {}, "n u s e esc n enter", allowed("deny", "use")],
    ["a change", {}, "n x ctrl-c enter", no],
    ["a change", {}, "n x ctrl-c ctrl-c esc", "later"],
    ["a change", {}, "down down enter", exchange],
    ["a change", {}, "up enter enter", no],
    ["a change", {}, "x down enter", null],
    ["a change", {}, "esc", "later"],
    ["a change", {}, "ctrl-c", "later"],
    ["a change", {}, "ctrl-z", null],
    ["a change", {}, "tab", null],
    ["a change among others", { place: { index: 2, count: 2 } }, "tab", "next"],
    ["a change that the config may allow", config, "f", null],
    ["a change that the config may allow", config, "f enter", allowed("allow_folder")],
    ["several files", files, "d", allowed("allow_each")],
    ["several files", files, "y enter", once],
    ["a limit", limit, "y", null],
    ["a limit", limit, "y enter", chosen(limitChoices("100 more tokens"), "continue")],
    ["a limit", limit, "n", chosen(limitChoices("100 more tokens"), "stop")],
    ["messages", admission, "y", null],
    ["messages", admission, "y enter", chosen(admissionChoices(), "yes")],
    ["messages", admission, "n", chosen(admissionChoices(), "no")],
    ["choices of a model", { question: CHOICE }, "y", null],
    ["choices of a model", { question: CHOICE }, "1", null],
    ["choices of a model", { question: CHOICE }, "1 enter", ofModel("1")],
    ["choices of a model", { question: CHOICE }, "3 enter", ofModel("3")],
    ["choices of a model", { question: CHOICE }, "4 enter", null],
    ["choices of a model", { question: CHOICE }, "0 enter", null],
    ["100 choices", many, "4 2", null],
    ["100 choices", many, "4 2 enter", chosen(HUNDRED, "42")],
    ["100 choices", many, "1 0 0 enter", chosen(HUNDRED, "100")],
    ["100 choices", many, "4 down enter", chosen(HUNDRED, "5")],
    ["100 choices", many, "1 0 1 enter", null],
    ["no choices", { question: { ...CHOICE, choices: [] } }, "down enter 1 y", null],
    ["a text", { question: TEXT }, "A d a enter", inWords("Ada")],
    ["a text", { question: TEXT }, "enter", null],
    ["a text", { question: TEXT }, "y esc", "later"],
    ["a text", { question: TEXT }, "y ctrl-c ctrl-c", "later"],
    ["a text", { question: TEXT }, "/ e x i t enter", null],
    ["a text among others", { question: TEXT, place: { index: 1, count: 2 } }, "y tab", "next"],
  ])("[TERM-41] [TERM-44] of %s (%#): %s %s", async (_, given, keys, expected) => {
    const { type, outcome } = asked(given);
    for (const key of keys.split(" ")) {
      type(key);
    }
    expect(await outcome()).toEqual(expected);
  });

  it("[TERM-42] count only if they were typed after the terminal showed the question", async () => {
    const { view, outcome, shown, type } = asked();
    expect(view.key("y")).toBe(false);
    view.armed();
    expect(view.key("y")).toBe(false);
    view.rows(80, 24);
    expect(view.key("y")).toBe(false);
    expect(view.paste("y\r")).toBe(false);
    expect(await outcome()).toBe(null);
    expect(shown()).toContain("Esc later");
    expect(type("y", "enter")).toBe(2);
    expect(await outcome()).toEqual(once);
  });

  it("[TERM-42] do not count while a person is typing a message", async () => {
    const { type, typeElsewhere, wait, outcome, shown, view } = asked();
    typeElsewhere();
    wait(400);
    expect(shown()).toContain("You are writing a message: wait a moment to answer here");
    expect(view.key("y")).toBe(false);
    wait(100);
    expect(shown()).toContain("Esc later");
    expect(await outcome()).toBe(null);
    expect(type("y", "enter")).toBe(2);
    expect(await outcome()).toEqual(once);
  });

  it("[TERM-42] are typed and not pasted", async () => {
    const { view, shown, outcome } = asked();
    shown();
    expect(view.paste("y\r")).toBe(false);
    expect(await outcome()).toBe(null);
  });

  it.each([
    "stop, use pnpm",
    "explain it first",
    "fine",
    "also run the linter please",
    "yes please",
    "you should use pnpm",
    "no, use pnpm",
    "now also the docs",
    "open it",
    "don't",
    "1. no",
    "ssss",
    "yyyy",
  ])(
    "[TERM-115] [TERM-116] that are typed as a text are shown, and answer nothing: %s",
    async (text) => {
      for (const question of [CHANGE, CHOICE]) {
        for (const ms of speedsOf(text)) {
          const { write, shown, outcome, wait, message, sent, type, pages } = asked({
            question,
            choices: question === CHANGE ? config.choices : question.choices,
          });
          shown();
          write(text, ms);
          wait(5000);
          expect(await outcome()).toBe(null);
          expect(message.message().text).toBe(text);
          expect(shown()).toContain(text);
          expect(shown()).toContain("Enter sends it after this · Esc back to the choices");
          // a letter after a pause is one of the message
          type("y");
          expect(message.message().text).toBe(`${text}y`);
          type("esc");
          expect(shown()).toContain("Esc later");
          type("enter");
          expect(await outcome()).toBe(null);
          expect([sent, pages]).toEqual([[], []]);
        }
      }
    },
  );

  it("[TERM-115] that are a word and Enter are sent as a message, however slowly they come", async () => {
    const { write, shown, outcome, wait, sent, type } = asked(config);
    shown();
    write("yes", 3000);
    type("enter");
    wait(5000);
    expect(sent).toEqual(["yes"]);
    expect(await outcome()).toBe(null);
  });

  it.each([
    ["y", once],
    ["f", allowed("allow_folder")],
  ])("[TERM-115] are confirmed after the terminal showed the mark: %s", async (key, expected) => {
    const { view, shown, outcome, wait, type } = asked(config);
    shown();
    // pasted without marks
    expect([view.key(key), view.key("\r")]).toEqual([true, true]);
    wait(5000);
    expect(await outcome()).toBe(null);
    expect(shown()).toContain(`> [${key}]`);
    expect(shown()).toContain("Enter confirms, Esc goes back");
    type("enter");
    expect(await outcome()).toEqual(expected);
  });

  it("[TERM-116] deny and open the question when nothing follows for half a second, or at once with Enter", async () => {
    const held = asked();
    held.shown();
    held.view.key("n");
    held.wait(499);
    expect(held.shown()).toContain("> [n] deny");
    held.wait(1);
    expect(held.shown()).toContain("Deny. Why, for the agent");
    const confirmed = asked();
    confirmed.shown();
    confirmed.view.key("n");
    confirmed.shown();
    confirmed.view.key("\r");
    expect(confirmed.shown()).toContain("Deny. Why, for the agent");
    const opened = asked();
    opened.shown();
    opened.view.key("o");
    opened.wait(499);
    expect(opened.pages).toEqual([]);
    opened.wait(1);
    expect(opened.pages).toHaveLength(1);
    const over = asked();
    over.shown();
    over.view.key("n");
    over.over.abort();
    over.wait(5000);
    expect(await over.outcome()).toBe("over");
  });

  it("[TERM-116] that deny do so after another one was marked, and a slow word with n denies at most", async () => {
    const { write, shown, outcome, type } = asked(config);
    type("e");
    write("no, use pnpm", 2000);
    expect(shown()).toContain("Deny. Why, for the agent (may stay empty):\n> o, use pnpm");
    type("enter");
    expect(await outcome()).toEqual(allowed("deny", "o, use pnpm"));
  });

  it("[TERM-42] that are for the message are shown at a question that takes a text", () => {
    const { view, message, typeElsewhere, shown } = asked({ question: TEXT });
    shown();
    message.set({ text: "also the docs", pasted: false });
    typeElsewhere();
    expect(view.key("x")).toBe(false);
    expect(shown()).toMatch(/^> also the docs.*\n {2}You are writing a message: wait/m);
  });

  it("[TERM-42] do not count a second time for a question that is shown again", async () => {
    const { view, type, ask, outcome } = asked({ place: { index: 1, count: 2 } });
    type("tab");
    expect(await outcome()).toBe("next");
    expect(view.key("y")).toBe(false);
    void ask();
    expect(view.key("y")).toBe(false);
    expect(type("y")).toBe(1);
  });

  it("[TERM-44] in a text are limited", async () => {
    const { view, shown, type, outcome } = asked({ question: TEXT });
    shown();
    view.paste("a".repeat(MAX_ANSWER + 1));
    type("enter");
    expect(shown()).toContain(`An answer has 1 to ${MAX_ANSWER} characters, without NUL; this one`);
    type("ctrl-c");
    view.paste("a".repeat(MAX_ANSWER));
    type("enter");
    const given = await outcome();
    expect(typeof given === "object" && given?.text.length).toBe(MAX_ANSWER);
  });

  it("[TERM-44] may paste a text that looks like a command", async () => {
    const { view, shown, type, outcome } = asked({ question: TEXT });
    shown();
    view.paste("/exit");
    type("enter");
    expect(await outcome()).toEqual({ choice: null, text: "/exit", note: null });
  });
});

describe("the rows of a question", () => {
  it("[TERM-40] [TERM-41] are all of it for the scrollback, and what a person needs for the answer", async () => {
    const { committed, shown, type } = asked({ place: { index: 2, count: 3 } });
    expect(committed).toEqual([
      "",
      `── May the agent change a.txt (edit_file)?  +1 -1 ${"─".repeat(30)}`,
      "| 1 - one",
      "| 1 + two",
      "  The longer answers count for edit_file(a.txt).",
    ]);
    expect(shown()).toBe(
      [
        "  Question 2 of 3: May the agent change a.txt (edit_file)?",
        "  [y] allow once   [e] allow for this exchange",
        "  [s] always allow in this session   [n] deny",
        "  o opens it · Tab next · Esc later · text is a message",
      ].join("\n"),
    );
    type("n", "n", "o");
    expect(shown()).toContain("  Deny. Why, for the agent (may stay empty):\n> no");
    type("enter");
    expect(committed.at(-1)).toBe("> deny: no");
  });

  it("[TERM-41] fit into 40 columns and few rows, whatever is asked", () => {
    const question = { ...CHANGE, path: [ROOT, CHILD] };
    const choices = [...WITH_FOLDER, editsChoice()];
    const narrow = asked({ question, choices, size: { width: 40, height: 15 } });
    const below = [
      "  [y] allow once",
      "  [e] allow for this exchange",
      "  [s] always allow in this session",
      "  [a] allow this and all edits",
      "  [f] always allow in this folder",
      "  [n] deny",
      "  o opens it · Esc later · text is a me…",
    ];
    expect(narrow.shown().split("\n")).toEqual([
      "  Where: sub-agent 5841d4ab > 1a2b3c4d,…",
      ...below,
    ]);
    narrow.screen.commit(["A message of somebody else"]);
    expect(narrow.shown().split("\n")).toEqual([
      "  May the agent change a.txt (edit_file…",
      "  The longer answers count for edit_fil…",
      ...below,
    ]);
    for (const [width, height] of [
      [40, 5],
      [20, 3],

      [200, 60],
    ] as const) {
      const rows = asked({ question, choices, size: { width, height } }).shown().split("\n");
      expect(rows.length).toBeLessThanOrEqual(Math.max(3, Math.min(9, height)));
      expect(Math.max(...rows.map(visibleWidth))).toBeLessThanOrEqual(width);
    }
  });

  it("[TERM-97] show permissions from the least to the most, then no, and a name that looks like a rule as what is asked", () => {
    const name = "a? The rule write_file (built-in) asks";
    const text = `May the agent change ${name} (edit_file)?\nThe rule edit_file (built-in) asks.`;
    const choices = WITH_FOLDER;
    const { committed, shown } = asked({ question: { ...CHANGE, text }, choices });
    expect(committed.join("\n").replaceAll("\n|…", "")).toContain(
      `── May the agent change ${name} (edit_file)? ────`,
    );
    expect(shown()).toContain(
      "  [y] allow once   [e] allow for this exchange\n  [s] always allow in this session   [f] always allow in this folder   [n] deny\n",
    );
  });

  it("[TERM-41] say which sub-agent asks", () => {
    const { shown } = asked({ question: { ...CHANGE, path: [ROOT, CHILD] } });
    expect(shown()).toContain("Where: sub-agent 5841d4ab > 1a2b3c4d, folder /home/ada/project");
  });

  it("[TERM-41] scroll through many choices", () => {
    const choices = HUNDRED;
    const { shown, type, committed } = asked({ question: { ...CHOICE, choices } });
    expect(committed).toContain("  100. c100");
    expect(shown()).toContain("choices 1 to 6 of 100, arrow keys move");
    type("5", "0");
    expect(shown()).toContain("> [50] c50\n");
    expect(shown().split("\n").length).toBe(9);
  });

  it("[TERM-43] cannot be written by a model or a file", () => {
    const hostile = "\u001b[2J\u202e[y] allow\tonce\u0007";
    const question: Question = {
      kind: "question",
      text: `${hostile}\n  [y] allow once\nQuestion 1 of 9: ${hostile}`,
      choices: offeredChoices([hostile, "[n] no\n  [2] yes", "y. yes"]),
      permission: null,
      path: [ROOT],
    };
    for (const width of [80, 40, 24]) {
      const { committed, shown } = asked({ question, size: { width, height: 24 } });
      const rows = [...committed, ...shown().split("\n")];
      // oxlint-disable-next-line no-control-regex -- nothing that a terminal obeys
      expect(rows.filter((row) => /[\u0000-\u001f\u007f\u202e]/.test(row))).toEqual([]);
      expect(rows.filter((row) => visibleWidth(row) > width)).toEqual([]);
      expect(rows.filter((row) => /^\s*\[y\]/.test(row))).toEqual([]);
      expect(committed.slice(2).filter((row) => !/^(\||$|  \d\. )/.test(row))).toEqual([]);
      expect(committed[1]).toMatch(/^── The agent asks: /);
    }
  });

  it("[TERM-43] keep each character of a command, however long its line is", () => {
    const command = `echo ${"a  b 世界 👩‍👩‍👧 ".repeat(40)}`;
    const { committed } = asked({
      question: { ...CHANGE, text: `Run?\n${command}`, choices: permissionChoices(null) },
    });
    const rows = committed.slice(2);
    expect(rows.map((row) => row.slice(2)).join("")).toBe(command.trimEnd());
    expect(Math.max(...rows.map(visibleWidth))).toBeLessThanOrEqual(80);
  });

  it("[TERM-43] are styled as a diff only in a diff", () => {
    const theme = {
      ...plainTheme,
      added: (text: string): string => `<${text}>`,
      removed: (text: string): string => `(${text})`,
    };
    const place = viewScreen();
    const text = "Run?\n+ no diff\n@@ -1 +1 @@\n-one\n+two\n three\nMay it?\n+ no diff";
    const view = createQuestionView({
      page: null,
      screen: { ...place.screen, theme },
      question: { ...CHANGE, text },
      choices: CHANGE.choices,
      place: { index: 1, count: 1 },
      folder: null,
    });
    void view.ask(new AbortController().signal);
    expect(place.committed.slice(1, -1)).toEqual([
      `── Run?  +1 -1 ${"─".repeat(65)}`,
      "|   + no diff",
      "|   ⋮",
      "| 1 (- one)",
      "| 1 <+ two>",
      "|    three",
      "|   May it?",
      "|   + no diff",
    ]);
  });
});

describe("a question that ends elsewhere", () => {
  it("[TERM-45] goes away, whatever is typed", async () => {
    for (const keys of [[], ["n", "x"], ["down"]]) {
      const { over, type, outcome, view, committed } = asked();
      type(...keys);
      const before = committed.length;
      over.abort();
      expect(await outcome()).toBe("over");
      expect(view.key(KEYS["enter"] ?? "")).toBe(false);
      expect(committed.length).toBe(before);
    }
  });

  it("[TERM-45] may have ended before it was shown", async () => {
    const { view, screen } = { ...asked(), ...viewScreen() };
    expect(screen.width).toBe(80);
    expect(await view.ask(AbortSignal.abort())).toBe("over");
  });

  it("[TERM-45] keeps what was typed while another one is shown", async () => {
    const { type, ask, outcome, committed, shown } = asked({
      question: TEXT,
      place: { index: 1, count: 2 },
    });
    type("A", "d", "tab");
    expect(await outcome()).toBe("next");
    const rows = committed.length;
    void ask();
    expect(committed.length).toBe(rows);
    expect(shown()).toContain("> Ad");
  });
});
