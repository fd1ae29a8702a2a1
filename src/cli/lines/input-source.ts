import { createInterface } from "node:readline";

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
  close(): Promise<void>;
}

export interface InputSourceEvents {
  event(event: InputEvent): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** The terminal can be neither read nor reset any more. */
  lost(): void;
}

/** Standard input that is not a terminal: lines, decoded one by one so that bad UTF-8 is refused. */
export function openPipeSource(cli: CliContext, on: InputSourceEvents): InputSource {
  cli.stdin.setEncoding("latin1");
  const lines = createInterface({ input: cli.stdin, terminal: false, crlfDelay: Infinity });
  lines.on("line", (text) => on.event(lineOf(text)));
  lines.on("close", () => on.event({ kind: "end" }));
  lines.on("error", on.lost);
  return {
    prompt: () => undefined,
    echo: () => undefined,
    leaveLine: () => undefined,
    giveBack: () => undefined,
    empty: () => 0,
    close: async () => lines.close(),
  };
}

function lineOf(bytes: string): InputEvent {
  const text = decodeUtf8(Buffer.from(bytes, "latin1"));
  return text === null
    ? { kind: "unreadable" }
    : { kind: "line", text, pasted: false, shown: false };
}
