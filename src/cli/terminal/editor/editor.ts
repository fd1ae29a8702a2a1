import type { History } from "../../chat/history.ts";
import type { Completions } from "./completion.ts";
import { createChips, PASTED, RECALLED } from "./chips.ts";
import { createCompleter } from "./completer.ts";
import { createDraft, type Written } from "./draft.ts";
import { drawDraft, PROMPT_WIDTH } from "./draw.ts";
import { editOf } from "./keys.ts";
import { createLayout, type Layout } from "./layout.ts";
import { lineAt } from "./moves.ts";
import { createRowKeys } from "./row-keys.ts";
import { createSearch, type Search } from "./search.ts";
import type { Edited } from "./external-editor.ts";
import { decodePrintableKey, parseKey } from "../pi/keys.ts";
import type { Part } from "../screen/screen.ts";
import type { Theme } from "../text/theme.ts";

/** A message, with what was pasted in full. What was pasted is never a command. */
export interface Message {
  readonly text: string;
  readonly pasted: boolean;
}

export interface EditorOptions {
  readonly theme: Theme;
  /** Gets each message that is sent. */
  readonly history: Pick<History, "entries" | "add">;
  readonly completions: Completions;
  /** The rows are to be drawn again. */
  readonly changed: () => void;
  /** Opens the text in the person's own editor. */
  readonly edit: (text: string) => Promise<Edited>;
  readonly on: {
    readonly submit: (message: Message) => void;
    /** A sentence for the person. */
    readonly note: (sentence: string) => void;
  };
}

/** The prompt, and where a person writes a message after it. */
export interface Editor extends Part {
  /**
   * True if the editor took the key. It leaves Ctrl-C, keys of the loop and those that would do nothing, such as Up in
   * the first row without a history; and Esc, unless it closes a list or a search.
   */
  key(data: string): boolean;
  /** Text between the marks of a paste. */
  paste(text: string): void;
  message(): Message;
  /** Replaces what is written; undo brings it back. */
  set(message: Message): void;
  /** Empties the editor; returns how many lines it had. Undo brings them back. */
  clear(): number;
  isEmpty(): boolean;
  /** A list of completions or a search is shown, which Esc closes. */
  isCompleting(): boolean;
}

/** A command that was typed up to its argument, which alone may be pasted. */
const TYPED_COMMAND = /^\s*(\/[a-z-]+\s|!)/;
const CONTROL = /\p{Cc}/u;

export function createEditor(options: EditorOptions): Editor {
  const { theme, history, changed, on } = options;
  const chips = createChips();
  const draft = createDraft();
  const layoutOf = createLayout(chips.label);
  const completer = createCompleter(options.completions, theme);
  let search: Search | null = null;
  let width = 80;
  /** Rows that were shown last; a page of them is a step. */
  let page = 1;
  let top = 0;
  /** The text is in the person's own editor: keys that come first would be lost in it. */
  let isOutside = false;

  const layout = (): Layout => layoutOf(draft.now.lines, draft.now, width);
  const written = (): Message => ({
    text: chips.expand(draft.text()),
    pasted: draft.now.pasted,
  });
  /**
   * Returns the line up to the cursor; only the beginning of a message that was typed begins with its own character.
   */
  const before = (): string => {
    const { lines, line, column, pasted } = draft.now;
    return (line > 0 || pasted ? "\n" : "") + lineAt(lines, line).slice(0, column);
  };
  const set = ({ text, pasted }: Message): void => draft.set(chips.hold(text, RECALLED), pasted);
  const rowKeys = createRowKeys({ draft, layout, history, set });
  const submit = (): void => {
    completer.search(null);
    if (draft.hasJustTyped("\\") && endsInBreak(draft.now)) {
      draft.replace(withBreak(draft.now));
      return;
    }
    const message = written();
    if (message.text.trim() !== "") {
      draft.forget();
      chips.clear(draft.killed());
      history.add(message);
      on.submit(message);
    }
  };
  /** Writes the chosen completion; true if the message is complete with it. */
  const complete = (): boolean => {
    const chosen = completer.selected();
    if (chosen === null) {
      return true;
    }
    const { item, length } = chosen;
    const isThere = before().slice(-length).trimEnd() === item.text.trimEnd() && length > 0;
    if (!isThere) {
      const { line, column } = draft.now;
      draft.splice({ line, column: column - length }, item.text);
    }
    completer.search(/[/\s]$/.test(item.text) && !item.text.startsWith('@"') ? before() : null);
    return isThere || item.isWhole === true;
  };
  const editOutside = async (): Promise<void> => {
    const { text } = written();
    isOutside = true;
    const edited = await options.edit(text);
    isOutside = false;
    if ("problem" in edited) {
      on.note(edited.problem);
    } else if (edited.text !== text) {
      // the text counts as pasted: it is unknown which of it was
      draft.set(chips.hold(edited.text, RECALLED), true);
    }
    changed();
  };
  const inList = (key: string | undefined): boolean => {
    switch (key) {
      case "up":
      case "ctrl+p":
        completer.move(-1);
        return true;
      case "down":
      case "ctrl+n":
        completer.move(1);
        return true;
      case "escape":
        completer.search(null);
        return true;
      case "tab":
        complete();
        return true;
      case "enter":
        if (complete()) {
          submit();
        }
        return true;
      default:
        return false;
    }
  };
  const openList = (): boolean => {
    completer.search(before());
    return completer.isOpen();
  };
  const special: Readonly<Record<string, () => boolean>> = {
    up: rowKeys.up,
    down: rowKeys.down,
    pageUp: () => rowKeys.move(-page),
    pageDown: () => rowKeys.move(page),
    tab: openList,
    enter: () => {
      submit();
      return true;
    },
    "ctrl+g": () => {
      void editOutside();
      return true;
    },
    "ctrl+r": () => {
      search = createSearch(history, theme);
      return true;
    },
  };
  const edit = (key: string | undefined, data: string): boolean => {
    const { lines } = draft.now;
    const change = key === undefined ? undefined : editOf(key);
    const typed = typedText(data);
    if (change === undefined && typed === "") {
      return false;
    }
    if (change === undefined) {
      draft.type(chips.hold(typed, PASTED));
    } else {
      change(draft);
    }
    completer.search(draft.now.lines === lines ? null : before());
    return true;
  };
  const press = (data: string): boolean => {
    const key = data === "\n" ? "ctrl+j" : parseKey(data);
    if (search !== null) {
      const result = search.key(key, typedText(data));
      search = result === "on" ? search : null;
      if (typeof result === "object") {
        set(result);
      }
      return true;
    }
    if (key === "ctrl+d" && draft.isEmpty()) {
      return false;
    }
    if (completer.isOpen() && inList(key)) {
      return true;
    }
    const act = key !== undefined && Object.hasOwn(special, key) ? special[key] : undefined;
    if (act !== undefined && key !== "tab") {
      completer.search(null);
    }
    return act === undefined ? edit(key, data) : act();
  };

  return {
    rows: (columns, height) => {
      if (search !== null) {
        return search.rows(columns, height);
      }
      // the prompt, and a column for the cursor after the last character
      width = Math.max(1, columns - PROMPT_WIDTH - 1);
      const drawn = drawDraft({ layout: layout(), cursor: draft.now, width, height, top, theme });
      [page, top] = [drawn.rows.length, drawn.top];
      // a row for the status line, and one above
      const room = Math.max(1, height - drawn.rows.length - 2);
      return [...drawn.rows, ...completer.rows(columns, room)];
    },
    key: (data) => {
      const isTaken = isOutside || press(data);
      if (isTaken) {
        changed();
      }
      return isTaken;
    },
    paste: (pasted) => {
      const text = pasted.replace(/\r\n?/g, "\n");
      if (text === "" || isOutside) {
        return;
      }
      search = null;
      completer.search(null);
      const { lines, line, column } = draft.now;
      const start = [...lines.slice(0, line), lineAt(lines, line).slice(0, column)].join("\n");
      const isArgument = !text.includes("\n") && TYPED_COMMAND.test(start);
      draft.insert(chips.hold(text, PASTED), !isArgument);
      changed();
    },
    message: written,
    set: (message) => {
      set(message);
      completer.search(null);
      changed();
    },
    clear: () => {
      const lines = draft.isEmpty() ? 0 : written().text.split("\n").length;
      if (lines > 0) {
        set({ text: "", pasted: false });
      }
      completer.search(null);
      changed();
      return lines;
    },
    isEmpty: draft.isEmpty,
    isCompleting: () => search !== null || completer.isOpen(),
  };
}

/** Returns what a key writes; empty for one that writes nothing. */
function typedText(data: string): string {
  const text = decodePrintableKey(data) ?? data;
  return CONTROL.test(text) ? "" : text;
}

/** A backslash at the end of the line, which no other one takes its meaning from. */
function endsInBreak({ lines, line, column }: Written): boolean {
  const text = lineAt(lines, line);
  return column === text.length && (/\\*$/.exec(text)?.[0].length ?? 0) % 2 === 1;
}

/** The backslash replaced by a line break. */
function withBreak(written: Written): Written {
  const { lines, line } = written;
  const begin = lineAt(lines, line).slice(0, -1);
  return {
    ...written,
    lines: [...lines.slice(0, line), begin, "", ...lines.slice(line + 1)],
    line: line + 1,
    column: 0,
  };
}
