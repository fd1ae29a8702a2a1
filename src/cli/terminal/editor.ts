import { createChips, PASTED, RECALLED } from "./editor/chips.ts";
import { createDraft, type Written } from "./editor/draft.ts";
import { drawDraft, PROMPT_WIDTH } from "./editor/draw.ts";
import { editOf } from "./editor/keys.ts";
import { createLayout, type Layout } from "./editor/layout.ts";
import { lineAt } from "./editor/moves.ts";
import type { Edited } from "./external-editor.ts";
import { decodePrintableKey, parseKey } from "./pi/keys.ts";
import type { Part } from "./screen.ts";
import type { Theme } from "./theme.ts";

/** A message, with what was pasted in full. What was pasted is never a command. */
export interface Message {
  readonly text: string;
  readonly pasted: boolean;
}

export interface EditorOptions {
  readonly theme: Theme;
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

/** Where a person writes a message, with the prompt. */
export interface Editor extends Part {
  /** True if the editor took the key. It leaves Esc, Ctrl-C, keys of the loop and those that would do nothing. */
  key(data: string): boolean;
  /** Text between the marks of a paste. */
  paste(text: string): void;
  message(): Message;
  /** Replaces what is written; undo brings it back. */
  set(message: Message): void;
  /** Empties the editor; returns how many lines it had. Undo brings them back. */
  clear(): number;
  isEmpty(): boolean;
}

/** A command that was typed up to its argument, which alone may be pasted. */
const TYPED_COMMAND = /^\s*(\/[a-z-]+\s|!)/;
const CONTROL = /\p{Cc}/u;

export function createEditor({ theme, changed, edit, on }: EditorOptions): Editor {
  const chips = createChips();
  const draft = createDraft();
  const layoutOf = createLayout(chips.label);
  let width = 80;
  /** Rows that were shown last; a page of them is a step. */
  let page = 1;
  let top = 0;
  /** The text is in the person's own editor: keys that come first would be lost in it. */
  let isOutside = false;

  const written = (): Message => ({
    text: chips.expand(draft.text()),
    pasted: draft.now.pasted,
  });

  const layout = (): Layout => layoutOf(draft.now.lines, draft.now, width);
  const vertical = (by: number): boolean => {
    const move = layout().vertical(by);
    if (move !== null) {
      draft.move(move);
    }
    return move !== null;
  };
  const submit = (): void => {
    if (draft.hasJustTyped("\\") && endsInBreak(draft.now)) {
      draft.replace(withBreak(draft.now));
      return;
    }
    const message = written();
    if (message.text.trim() !== "") {
      draft.forget();
      chips.clear();
      on.submit(message);
    }
  };
  const editOutside = async (): Promise<void> => {
    const { text } = written();
    isOutside = true;
    const edited = await edit(text);
    isOutside = false;
    if ("problem" in edited) {
      on.note(edited.problem);
    } else if (edited.text !== text) {
      // nobody knows what was pasted there
      draft.set(chips.hold(edited.text, RECALLED), true);
    }
    changed();
  };
  const press = (data: string): boolean => {
    const key = data === "\n" ? "ctrl+j" : parseKey(data);
    if (key === "ctrl+d" && draft.isEmpty()) {
      return false;
    }
    if (key === "enter") {
      submit();
      return true;
    }
    if (key === "ctrl+g") {
      void editOutside();
      return true;
    }
    if (key === "up" || key === "down") {
      return vertical(key === "up" ? -1 : 1);
    }
    if (key === "pageUp" || key === "pageDown") {
      return vertical(key === "pageUp" ? -page : page);
    }
    const edit = key === undefined ? undefined : editOf(key);
    if (edit !== undefined) {
      edit(draft);
      return true;
    }
    const typed = decodePrintableKey(data) ?? data;
    if (typed === "" || CONTROL.test(typed)) {
      return false;
    }
    draft.type(chips.hold(typed, PASTED));
    return true;
  };

  return {
    rows: (columns, height) => {
      // the prompt, and a column for the cursor after the last character
      width = Math.max(1, columns - PROMPT_WIDTH - 1);
      const drawn = drawDraft({ layout: layout(), cursor: draft.now, width, height, top, theme });
      [page, top] = [drawn.rows.length, drawn.top];
      return drawn.rows;
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
      if (text !== "") {
        const { lines, line, column } = draft.now;
        const before = [...lines.slice(0, line), lineAt(lines, line).slice(0, column)].join("\n");
        const isArgument = !text.includes("\n") && TYPED_COMMAND.test(before);
        draft.insert(chips.hold(text, PASTED), !isArgument);
        changed();
      }
    },
    message: written,
    set: ({ text, pasted }) => {
      draft.set(chips.hold(text, RECALLED), pasted);
      changed();
    },
    clear: () => {
      const lines = draft.isEmpty() ? 0 : written().text.split("\n").length;
      if (lines > 0) {
        draft.set("", false);
        changed();
      }
      return lines;
    },
    isEmpty: draft.isEmpty,
  };
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
