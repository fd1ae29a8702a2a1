import { createInterface } from "node:readline";

import type { CliContext } from "../context.ts";
import { decodeUtf8 } from "../utf8.ts";

export type InputEvent =
  | { readonly kind: "line"; readonly text: string }
  /** A line that is not UTF-8. */
  | { readonly kind: "unreadable" }
  /** Ctrl-C. */
  | { readonly kind: "interrupt" }
  /** End of file, or the terminal went away. */
  | { readonly kind: "end" };

export interface LineInput {
  /** The next thing that happened, in order; after `end` it stays `end`. */
  next(prompt: string): Promise<InputEvent>;
  /** While the callback is set, Ctrl-C goes to it instead of into the queue. */
  onInterrupt(callback: (() => void) | null): void;
  /** Aborted when the program is asked to leave: SIGTERM, SIGHUP. */
  readonly leaving: AbortSignal;
  /** Lines that were read and not asked for yet. */
  waiting(): number;
  close(): void;
}

/**
 * Standard input as lines, from a terminal or a pipe. Lines that come while an exchange is at work
 * wait for their turn, so that a pasted block arrives whole.
 */
export function openLineInput(cli: CliContext): LineInput {
  const terminal = cli.stdin.isTTY === true;
  if (!terminal) {
    // bytes as they are: decoded line by line, so that what is not UTF-8 is refused, not replaced
    cli.stdin.setEncoding("latin1");
  }
  const lines = createInterface({
    input: cli.stdin,
    // the prompt and what is typed must not get into a file of answers
    ...(terminal ? { output: (cli.stdout.isTTY ? cli.stdout : cli.stderr).drawing() } : {}),
    terminal,
    crlfDelay: Infinity,
  });
  const queue: InputEvent[] = [];
  const leaving = new AbortController();
  let wake: (() => void) | null = null;
  let interrupt: (() => void) | null = null;

  const push = (event: InputEvent): void => {
    queue.push(event);
    wake?.();
  };
  const onInterrupt = (): void => {
    if (interrupt === null) {
      push({ kind: "interrupt" });
    } else {
      interrupt();
    }
  };
  const onLeave = (): void => {
    leaving.abort();
    lines.close();
  };

  lines.on("line", (text) => push(terminal ? { kind: "line", text } : lineOf(text)));
  lines.on("close", () => push({ kind: "end" }));
  // a terminal whose window was closed can be neither read nor set back; closing would fail again
  lines.on("error", () => {
    leaving.abort();
    push({ kind: "end" });
  });
  // in raw mode readline hears Ctrl-C itself; a signal comes from elsewhere or without a terminal
  lines.on("SIGINT", onInterrupt);
  cli.signals.on("SIGINT", onInterrupt);
  cli.signals.on("SIGTERM", onLeave);
  cli.signals.on("SIGHUP", onLeave);

  return {
    leaving: leaving.signal,
    onInterrupt: (callback) => {
      interrupt = callback;
    },
    waiting: () => queue.filter((event) => event.kind === "line").length,
    next: async (prompt) => {
      if (terminal && queue.length === 0) {
        lines.setPrompt(prompt);
        lines.prompt();
      }
      while (queue.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const [event] = queue;
      if (event?.kind !== "end") {
        queue.shift();
      }
      return event ?? { kind: "end" };
    },
    close: () => {
      cli.signals.off("SIGINT", onInterrupt);
      cli.signals.off("SIGTERM", onLeave);
      cli.signals.off("SIGHUP", onLeave);
      lines.close();
    },
  };
}

function lineOf(bytes: string): InputEvent {
  const text = decodeUtf8(Buffer.from(bytes, "latin1"));
  return text === null ? { kind: "unreadable" } : { kind: "line", text };
}
