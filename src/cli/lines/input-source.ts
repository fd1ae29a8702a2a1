import { createInterface } from "node:readline";

import { MAX_CONTENT_BYTES } from "../../core/limits.ts";
import type { InputEvent, Typed } from "../chat/front.ts";
import type { CliContext } from "../process/context.ts";
import { decodeUtf8 } from "../chat/prompt-text.ts";

/** Where lines come from. */
export interface InputSource {
  prompt(text: string): void;
  /** Shows a line that was typed while no prompt was there. */
  echo(prompt: string, line: string): void;
  /** Takes the prompt away, with what is typed: the next one shows it again. */
  leaveLine(): void;
  /** Puts a message before what is typed and not sent; the next prompt shows it. A pipe has no prompt. */
  giveBack(message: Typed): void;
  /** Drops what is typed and not sent, and returns how many lines that were. */
  empty(): number;
  /** Called with the number of events that wait: a pipe is not read on while many do. */
  waiting(count: number): void;
  close(): Promise<void>;
}

export interface InputSourceEvents {
  event(event: InputEvent): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** The terminal can be neither read nor reset any more. */
  lost(): void;
}

/** Lines that may wait before a pipe is read on: the last piece that was read may have more. */
const MAX_WAITING = 1000;

/**
 * Standard input that is not a terminal: lines, decoded one by one so that bad UTF-8 is refused. It is read as its lines
 * are used, because it may have no end.
 */
export function openPipeSource(cli: CliContext, on: InputSourceEvents): InputSource {
  cli.stdin.setEncoding("latin1");
  const lines = createInterface({ input: cli.stdin, terminal: false, crlfDelay: Infinity });
  let isClosed = false;
  /** Bytes of the line whose end was not read yet. */
  let unended = 0;
  const count = (text: string): void => {
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r"));
    unended = end === -1 ? unended + text.length : text.length - end - 1;
    if (unended > MAX_CONTENT_BYTES) {
      on.event({ kind: "too_large" });
      close();
    }
  };
  const close = (): void => {
    isClosed = true;
    cli.stdin.off("data", count);
    lines.close();
  };
  cli.stdin.on("data", count);
  lines.on("line", (text) => {
    if (!isClosed) {
      on.event(lineOf(text));
    }
  });
  lines.on("close", () => {
    const isEnd = !isClosed;
    isClosed = true;
    if (isEnd) {
      on.event({ kind: "end" });
    }
  });
  lines.on("error", on.lost);
  return {
    prompt: () => undefined,
    echo: () => undefined,
    leaveLine: () => undefined,
    giveBack: () => undefined,
    empty: () => 0,
    waiting: (waiting) => {
      if (isClosed) {
        return;
      }
      if (waiting >= MAX_WAITING) {
        lines.pause();
      } else {
        lines.resume();
      }
    },
    close: async () => close(),
  };
}

function lineOf(bytes: string): InputEvent {
  const text = decodeUtf8(Buffer.from(bytes, "latin1"));
  return text === null
    ? { kind: "unreadable" }
    : { kind: "line", text, pasted: false, shown: false };
}
