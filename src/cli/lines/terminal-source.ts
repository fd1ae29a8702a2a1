import { createInterface, emitKeypressEvents, type Key } from "node:readline";
import { PassThrough } from "node:stream";
import type { CliContext } from "../process/context.ts";
import { discardInput } from "../process/discard-input.ts";
import type { InputSource, InputSourceEvents } from "./input-source.ts";
import { createPasteReader } from "../process/paste-reader.ts";
import { visible } from "../../core/text/terminal-text.ts";

/** The prompt of every further line of a message. */
const FURTHER = "… ";
/**
 * A command that was typed up to its argument: text pasted after it does not make it a pasted
 * command.
 */
const TYPED_COMMAND = /^\s*\/[a-z-]+\s/;

/**
 * A terminal: a line editor for the line that is typed, in front of it the lines of the same message
 * before. Pasted text becomes part of the message, never a key. While no prompt is shown nothing
 * that is typed is drawn; the next prompt shows it.
 */
export function openTerminalSource(cli: CliContext, on: InputSourceEvents): InputSource {
  const output = cli.stdout.isTTY ? cli.stdout : cli.stderr;
  const drawing = output.drawing();
  drawing.hidden = true;
  const typed = new PassThrough();
  const editorInput = Object.assign(new PassThrough(), {
    setRawMode: (raw: boolean) => cli.stdin.setRawMode?.(raw),
  });
  const editor = createInterface({ input: editorInput, output: drawing, terminal: true });
  const pastes = createPasteReader({
    keys: (text) => void typed.emit("data", text),
    paste: (text) => insert(text.replace(/\r\n?/g, "\n"), true),
    unended: () => {
      isEndLost = true;
      if (!drawing.hidden) {
        output.print("\n");
        draw();
      }
    },
  });
  const marks = cli.env["TERM"] !== "dumb";
  /** The lines of the message before the one in the editor, each with its line feed. */
  let before = "";
  let pasted = false;
  /** Whether `before` is on the screen. */
  let shown = true;
  let prompt = "";
  /** The next prompt says that the end of a paste is missing. */
  let isEndLost = false;

  const hidden = (work: () => void): void => {
    const was = drawing.hidden;
    drawing.hidden = true;
    work();
    drawing.hidden = was;
  };
  const emptyLine = (): void => {
    editor.write(null, { ctrl: true, name: "e" });
    editor.write(null, { ctrl: true, name: "u" });
  };
  const draw = (): void => {
    drawing.hidden = false;
    if (isEndLost && pastes.pasting()) {
      output.print("(a paste without its end; Ctrl-C drops it)\n");
    }
    isEndLost = false;
    if (!shown) {
      output.print(`${prompt}${shownDraft(before)}${before.endsWith("\n") ? "" : "\n"}`);
      shown = true;
    }
    editor.setPrompt(before === "" ? prompt : FURTHER);
    editor.prompt(true);
  };
  const insert = (text: string, isPaste: boolean): void => {
    const head = editor.line.slice(0, editor.cursor);
    const tail = editor.line.slice(editor.cursor);
    const cut = text.lastIndexOf("\n") + 1;
    const isArgument = cut === 0 && TYPED_COMMAND.test(before + head);
    pasted ||= isPaste && !isArgument;
    if (cut === 0 && isEditable(text)) {
      editor.write(text);
      return;
    }
    const last = text.slice(cut);
    const kept = isEditable(last) ? last : "";
    commit(head + text.slice(0, text.length - kept.length), kept + tail);
    for (let column = 0; column < tail.length; column++) {
      editor.write(null, { name: "left" });
    }
  };
  /** The line becomes one of those before, and the editor gets another one. */
  const commit = (line: string, next: string): void => {
    emptyLine();
    const first = before === "";
    before += line;
    if (drawing.hidden) {
      shown = false;
    } else {
      output.print(`${shownDraft(line)}${line.endsWith("\n") ? "" : "\n"}`);
      if (first) {
        editor.setPrompt(FURTHER);
      }
    }
    hidden(() => editor.write(next));
    if (!drawing.hidden) {
      editor.prompt(true);
    }
  };
  const onLine = (line: string): void => {
    if (!pasted && breaksLine(line)) {
      before += `${line.slice(0, -1)}\n`;
      shown &&= !drawing.hidden;
      if (!drawing.hidden) {
        draw();
      }
      return;
    }
    const text = before + line;
    const event = { kind: "line", text, pasted, shown: shown && !drawing.hidden } as const;
    [before, pasted, shown] = ["", false, true];
    drawing.hidden = true;
    on.event(event);
  };
  const onKey = (text: string | undefined, key: Key): void => {
    const isReturn = key.name === "return" || key.name === "enter";
    if (isReturn && (key.sequence === "\n" || key.meta === true)) {
      insert("\n", false);
    } else if (key.ctrl === true && key.name === "d" && editor.line === "" && before === "") {
      on.event({ kind: "end" });
    } else {
      if (key.ctrl === true && key.name === "z") {
        output.markPastes(false);
      }
      editorInput.emit("keypress", text, key);
    }
  };

  emitKeypressEvents(typed);
  typed.on("keypress", onKey);
  editor.on("line", onLine);
  editor.on("SIGINT", on.interrupt);
  editor.on("SIGCONT", () => output.markPastes(marks));
  const read = (text: string): void => pastes.read(text);
  const onEnd = (): void => on.event({ kind: "end" });
  cli.stdin.setEncoding("utf8");
  cli.stdin.on("data", read).on("end", onEnd).on("error", on.lost);
  cli.stdin.resume();
  output.markPastes(marks);

  return {
    prompt: (text) => {
      prompt = text;
      draw();
    },
    echo: (text, line) => output.print(`${text}${shownDraft(line)}\n`),
    leaveLine: () => {
      if (drawing.hidden) {
        return;
      }
      editor.write(null, { ctrl: true, name: "e" });
      output.print("\n");
      shown &&= before === "";
      hidden(() => {
        // written again, so that the editor draws it below what comes now
        const { line } = editor;
        emptyLine();
        editor.write(line);
      });
      drawing.hidden = true;
    },
    waiting: () => undefined,
    giveBack: (message) => {
      const typed = before + editor.line;
      const isPasted = pasted || message.pasted;
      hidden(emptyLine);
      [before, shown] = ["", true];
      hidden(() => insert(typed === "" ? message.text : `${message.text}\n${typed}`, false));
      pasted = isPasted;
    },
    empty: () => {
      const lines = (before + editor.line).split("\n").length;
      const dropped = before === "" && editor.line === "" ? 0 : lines;
      if (!drawing.hidden) {
        editor.write(null, { ctrl: true, name: "e" });
      }
      hidden(emptyLine);
      [before, pasted, shown] = ["", false, true];
      drawing.hidden = true;
      return dropped;
    },
    close: async () => {
      drawing.hidden = true;
      pastes.close();
      cli.stdin.off("data", read);
      await discardInput(cli.stdin, pastes.pasting());
      cli.stdin.off("end", onEnd).off("error", on.lost);
      output.markPastes(false);
      editor.close();
      drawing.destroy();
    },
  };
}

/** Lines of a message that a person is shown before it is sent, at its beginning and its end. */
const MAX_FIRST_LINES = 500;
const MAX_LAST_LINES = 100;
/** Characters of a line that are shown, and that a line editor keeps. */
const LINE_SHOWN = 2000;

/** Text as a terminal shows it before it is sent: every line, unless there are very many. */
function shownDraft(text: string): string {
  const lines = text.split("\n").map(shownLine);
  const left = lines.length - MAX_FIRST_LINES - MAX_LAST_LINES;
  return (
    left <= 0
      ? lines
      : [
          ...lines.slice(0, MAX_FIRST_LINES),
          `… ${left} more lines …`,
          ...lines.slice(-MAX_LAST_LINES),
        ]
  ).join("\n");
}

function shownLine(line: string): string {
  return line.length <= LINE_SHOWN
    ? visible(line)
    : `${visible(line.slice(0, LINE_SHOWN))}… ${line.length - LINE_SHOWN} more characters …`;
}

/** Whether a line editor can hold the line: it draws its whole content, unescaped, each time. */
function isEditable(line: string): boolean {
  return line.length <= LINE_SHOWN && visible(line) === line && !line.includes("\t");
}

/** A backslash at the end, which no other one takes its meaning from. */
function breaksLine(line: string): boolean {
  return (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;
}
