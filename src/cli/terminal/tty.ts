import type { CliContext } from "../context.ts";
import { discardInput } from "../discard-input.ts";
import { createPasteReader } from "../lines/paste-reader.ts";
import type { RawTerminal } from "../output.ts";
import type { Attention } from "./attention.ts";

const HIDE_CURSOR = "\u001b[?25l";
const MARK_PASTES = "\u001b[?2004h";
const MARK_NO_PASTES = "\u001b[?2004l";
/** Automatic wrapping, no styles, no link, pastes unmarked, and the cursor. */
export const RESET = `\u001b[?7h\u001b[m\u001b]8;;\u001b\\${MARK_NO_PASTES}\u001b[?25h`;

// oxlint-disable-next-line no-control-regex -- what a terminal reports
const FOCUS = /\u001b\[[IO]/g;

/** What else is switched on while the program has the terminal. */
export type TtyModes = Pick<Attention, "enter" | "leave" | "restore" | "focus">;

const NO_MODES: TtyModes = {
  enter: () => undefined,
  leave: () => undefined,
  restore: "",
  focus: () => false,
};

export interface TtyEvents {
  /** Keys, one or more, as the terminal sends them. */
  keys(text: string): void;
  paste(text: string): void;
  /** The end of the input. */
  end(): void;
  /** The terminal can be neither read nor reset any more. */
  lost(): void;
}

interface Query {
  readonly form: RegExp;
  readonly done: Promise<RegExpExecArray | null>;
  answer(match: RegExpExecArray | null): void;
}

/** A terminal whose keys are read one by one, and its answers to what is asked. Every way out of the program resets it. */
export function openTty(
  cli: Pick<CliContext, "stdin">,
  terminal: RawTerminal,
  on: TtyEvents,
  modes: TtyModes = NO_MODES,
) {
  /** What the terminal was asked, with the form of its answer. */
  const asked = new Set<Query>();
  // no keys: they must not load what keys need
  const keys = (text: string): void => {
    const rest = text.replace(FOCUS, (report) => (modes.focus(report) ? "" : report));
    if (rest !== "") {
      on.keys(rest);
    }
  };
  const pastes = createPasteReader(
    { keys, paste: (text) => on.paste(text.replace(/\r\n?/g, "\n")), unended: () => {} },
    { readsEscape: true },
  );
  const read = (text: string): void => {
    let rest = text;
    for (const query of asked) {
      const match = query.form.exec(rest);
      if (match !== null) {
        asked.delete(query);
        rest = rest.slice(0, match.index) + rest.slice(match.index + match[0].length);
        query.answer(match);
      }
    }
    if (rest !== "") {
      pastes.read(rest);
    }
  };
  let isEntered = false;
  const enter = (): void => {
    isEntered = true;
    cli.stdin.setRawMode?.(true);
    terminal.draw(`${MARK_PASTES}${HIDE_CURSOR}`);
    modes.enter();
    terminal.restoreWith(RESET + modes.restore);
    cli.stdin.on("data", read);
    cli.stdin.resume();
  };
  const leave = (): void => {
    isEntered = false;
    terminal.restoreWith(null);
    cli.stdin.off("data", read);
    cli.stdin.pause();
    terminal.draw(RESET);
    modes.leave();
    cli.stdin.setRawMode?.(false);
  };
  cli.stdin.setEncoding("utf8");
  cli.stdin.on("end", on.end).on("error", on.lost);
  enter();
  return {
    /** Asks the terminal; null if no answer of that form comes in time. */
    ask: (question: string, form: RegExp, ms: number): Promise<RegExpExecArray | null> => {
      const { promise: done, resolve: answer } = Promise.withResolvers<RegExpExecArray | null>();
      if (!isEntered) {
        answer(null);
        return done;
      }
      const query = { form, done, answer };
      const timer = setTimeout(() => {
        asked.delete(query);
        answer(null);
      }, ms);
      asked.add(query);
      terminal.draw(question);
      return done.finally(() => clearTimeout(timer));
    },
    /** Resolves once nothing is asked: an answer that comes later would be typed into another program. */
    settled: async (): Promise<void> => {
      await Promise.all([...asked].map(({ done }) => done));
    },
    /** Gives the terminal to somebody else, until `enter`. */
    leave,
    enter,
    close: async (): Promise<void> => {
      pastes.close();
      cli.stdin.off("data", read);
      await discardInput(cli.stdin, pastes.pasting());
      terminal.restoreWith(null);
      cli.stdin.off("end", on.end).off("error", on.lost);
      terminal.draw(RESET);
      modes.leave();
    },
  };
}
