import { Writable } from "node:stream";

import { lineSafeJson, rowsText, visible, visibleJson } from "../../core/text/terminal-text.ts";
import { type RawTerminal, rawTerminal } from "./raw-terminal.ts";

/**
 * Standard output or standard error. On a terminal everything is cleaned; to a file or a pipe, text
 * is written unchanged, and JSON so that each reader of lines finds the same ones. This is the only
 * file that may write to either.
 */
export interface Output {
  readonly isTTY: boolean;
  /** Text for a person. Controls but line feed and tab become visible: see core/text/terminal-text.ts. */
  print(text: string): void;
  /** Rows for a person, which may have styles and links; no other sequence reaches a terminal. */
  printRows(rows: readonly string[]): void;
  /**
   * JSON text for a program. Characters that a reader could obey are escaped; the value is equal.
   * Bytes into a pipe stay.
   */
  printJson(json: string | Uint8Array): void;
  /** Takes long text in pieces and waits for a slow reader. A piece is text or JSON as above. */
  sink(kind: "text" | "json"): Writable;
  /** Output that a line editor draws on; only its movements of the cursor pass. */
  drawing(): Drawing;
  /** Asks the terminal to mark what is pasted, until it is called with false or the program ends. */
  markPastes(on: boolean): void;
  /** The terminal itself, for a screen; null if this is none. */
  terminal(): RawTerminal | null;
  /** Until it is called with null, what is printed goes to the function: a screen is drawn on the terminal. */
  cover(print: ((text: string) => void) | null): void;
}

/** A line editor's way to the terminal. */
export class Drawing extends Writable {
  /** Nothing is drawn while this is true. */
  hidden = false;
  readonly #stream: NodeJS.WriteStream;
  readonly #onResize = (): void => void this.emit("resize");

  constructor(stream: NodeJS.WriteStream) {
    super({ decodeStrings: false });
    this.#stream = stream.on("resize", this.#onResize);
  }

  get columns(): number {
    return this.#stream.columns;
  }

  override _write(text: string, _encoding: string, done: (error?: Error | null) => void): void {
    // at once, so that it keeps its place among what is printed
    if (!this.hidden) {
      this.#stream.write(keepMovements(text));
    }
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream.off("resize", this.#onResize);
    done(error);
  }
}

/** Reactions when an output takes no more. */
export interface OutputEnds {
  /** Called once it has no reader any more. */
  readonly onUnread: () => void;
  /** The system does not write it, such as on a full disk. */
  readonly onUnwritable: (error: NodeJS.ErrnoException) => void;
}

/** The process's own outputs. */
export function processOutputs({ onUnread, onUnwritable }: OutputEnds) {
  let stderr: Output | null = null;
  const stdout = outputTo(process.stdout, { onUnread, onUnwritable });
  return {
    stdout,
    // created when it is first used: most commands print no errors
    get stderr(): Output {
      // standard error is where a problem is shown: its own cannot be
      return (stderr ??= outputTo(process.stderr, { onUnread, onUnwritable: () => undefined }));
    },
    /** Waits until the system has all that was printed. */
    flushed: async (): Promise<void> => {
      await stdout.terminal()?.drained();
      await flushed(process.stdout);
      if (stderr !== null) {
        await flushed(process.stderr);
      }
    },
  };
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  // an error is the stream's own event, too
  return new Promise((resolve) => stream.write("", () => resolve()));
}

type TerminalStream = NodeJS.WriteStream & { readonly fd: number };

/** A stream as an output; terminal or not is what its `isTTY` says. */
export function outputTo(stream: TerminalStream, { onUnread, onUnwritable }: OutputEnds): Output {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // a reader that has seen enough (`| head`) or a terminal that was closed is not a failure
    if (error.code === "EPIPE" || (error.code === "EIO" && isTTY)) {
      onUnread();
    } else {
      onUnwritable(error);
    }
  });
  const isTTY = isTerminal(stream);
  const clean = isTTY
    ? { text: visible, json: visibleJson }
    : { text: (text: string) => text, json: lineSafeJson };
  const terminal = isTTY ? rawTerminal(stream) : null;
  const pasteMarks = createPasteMarks(stream);
  let covered: ((text: string) => void) | null = null;
  return {
    isTTY,
    print: (text) => {
      const cleaned = clean.text(text);
      if (covered === null) {
        stream.write(cleaned);
      } else {
        covered(cleaned);
      }
    },
    printRows: (rows) => void stream.write(rowsText(rows)),
    printJson: (json) => {
      const text = isTTY && typeof json !== "string" ? Buffer.from(json).toString() : json;
      stream.write(typeof text === "string" ? clean.json(text) : text);
    },
    sink: (kind) =>
      new Writable({
        decodeStrings: false,
        write: (piece: string, _, done) => {
          stream.write(clean[kind](piece), "utf8", (error) => {
            // a failure is the stream's own event, which ends the program
            if (error === undefined || error === null) {
              done();
            }
          });
        },
      }),
    drawing: () => new Drawing(stream),
    markPastes: (on) => {
      if (isTTY) {
        pasteMarks(on);
      }
    },
    terminal: () => terminal,
    cover: (print) => {
      covered = isTTY ? print : null;
    },
  };
}

/** A file or a pipe has no `isTTY` at all, although its type has one. */
function isTerminal(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}

/** A terminal keeps this mode when the program ends, so every way out has to reset it. */
function createPasteMarks(stream: NodeJS.WriteStream): (on: boolean) => void {
  let current = false;
  const set = (on: boolean): void => {
    if (on !== current) {
      current = on;
      stream.write(on ? "\u001b[?2004h" : "\u001b[?2004l");
    }
  };
  const reset = (): void => set(false);
  return (on) => {
    process.off("exit", reset);
    if (on) {
      process.on("exit", reset);
    }
    set(on);
  };
}

/** Cursor up, down, right, left, to a column, to a place; erase below, erase in the line. */
// oxlint-disable-next-line no-control-regex -- these are the sequences that may pass
const MOVEMENT = /(\u001b\[\d*(?:;\d*)?[ABCDGHJK]|\r)/;

function keepMovements(text: string): string {
  return text
    .split(MOVEMENT)
    .map((piece, index) => (index % 2 === 1 ? piece : visible(piece)))
    .join("");
}
