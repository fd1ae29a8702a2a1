import type { CliContext } from "../../process/context.ts";
import { discardInput } from "../../process/discard-input.ts";
import { createPasteReader } from "../../process/paste-reader.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import type { Attention } from "./attention.ts";

const HIDE_CURSOR = "\u001b[?25l";
const MARK_PASTES = "\u001b[?2004h";
const MARK_NO_PASTES = "\u001b[?2004l";
/** Automatic wrapping, no styles, no link, pastes unmarked, and the cursor. */
const RESET = `\u001b[?7h\u001b[m\u001b]8;;\u001b\\${MARK_NO_PASTES}\u001b[?25h`;

/** Keys as of the Kitty keyboard protocol: without a doubt, and with the key of a layout that has no Latin letters. */
const ALL_KEYS = "\u001b[>5u";
const OLD_KEYS = "\u001b[<u";
/** Whether it knows them, and what every terminal answers after that. */
const KEYS_QUESTION = "\u001b[?u";
const TERMINAL_QUESTION = "\u001b[c";
// oxlint-disable-next-line no-control-regex -- the answer of a terminal
const KEYS_ANSWER = /\u001b\[\?\d+u/;
// oxlint-disable-next-line no-control-regex -- the answer of a terminal
const TERMINAL_ANSWER = /\u001b\[\?[\d;]*c/;
const KEYS_MS = 300;
/** Milliseconds that a terminal is waited for that has answered before. */
const LATE_MS = 1000;

// oxlint-disable-next-line no-control-regex -- what a terminal reports
const FOCUS = /\u001b\[[IO]/g;

/** Modes that are switched on while the program has the terminal. */
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

/** Milliseconds after which the beginning of an answer is a key. */
const TORN_MS = 50;
/** At most so much of an answer is waited for. */
// oxlint-disable-next-line no-control-regex -- the answers of a terminal
const TORN_ANSWER = /\u001b(?:\[\??[\d;]{0,64}|\][^\u0007\u001b]{0,64}\u001b?)?$/;

interface Query {
  readonly form: RegExp;
  /** The answer, if it comes in time, else null. */
  readonly done: Promise<RegExpExecArray | null>;
  /** The answer, however late it comes. */
  readonly answered: Promise<RegExpExecArray>;
  answer(match: RegExpExecArray): void;
  /** Ends the waiting. */
  end(): void;
}

/** A terminal whose keys are read one by one, and its answers to what is asked. Every way out of the program resets it. */
export function openTty(
  cli: Pick<CliContext, "stdin">,
  terminal: RawTerminal,
  on: TtyEvents,
  modes: TtyModes = NO_MODES,
) {
  // no keys: they must not load what keys need
  const keys = (text: string): void => {
    const rest = text.replace(FOCUS, (report) => (modes.focus(report) ? "" : report));
    if (rest !== "") {
      on.keys(rest);
    }
  };
  /** Queries that the terminal has not answered, also those that are not waited for any more. */
  const asked = new Set<Query>();
  let hasAnswered = false;
  /** The end of what came: it may be the beginning of an answer. */
  let torn = "";
  let tornTimer: NodeJS.Timeout | undefined;
  const readKeys = (text: string): void => {
    clearTimeout(tornTimer);
    let rest = torn + text;
    torn = "";
    for (const query of asked) {
      const match = query.form.exec(rest);
      if (match !== null) {
        asked.delete(query);
        hasAnswered = true;
        rest = rest.slice(0, match.index) + rest.slice(match.index + match[0].length);
        query.answer(match);
      }
    }
    if (asked.size > 0) {
      torn = TORN_ANSWER.exec(rest)?.[0] ?? "";
      rest = rest.slice(0, rest.length - torn.length);
    }
    if (torn !== "") {
      tornTimer = setTimeout(releaseTorn, TORN_MS);
    }
    if (rest !== "") {
      keys(rest);
    }
  };
  const releaseTorn = (): void => {
    const released = torn;
    torn = "";
    keys(released);
  };
  const pastes = createPasteReader(
    {
      // a paste is not searched for answers
      keys: readKeys,
      paste: (text) => on.paste(text.replace(/\r\n?/g, "\n")),
      unended: () => {},
    },
    { readsEscape: true },
  );
  const read = (text: string): void => pastes.read(text);
  let isEntered = false;
  /** The terminal said that it knows `ALL_KEYS`. */
  let knowsKeys = false;
  const restore = (): string => `${knowsKeys ? OLD_KEYS : ""}${RESET}`;
  const enter = (): void => {
    isEntered = true;
    cli.stdin.setRawMode?.(true);
    terminal.draw(`${MARK_PASTES}${HIDE_CURSOR}${knowsKeys ? ALL_KEYS : ""}`);
    modes.enter();
    terminal.restoreWith(restore() + modes.restore);
    cli.stdin.on("data", read);
    cli.stdin.resume();
  };
  const leave = (): void => {
    isEntered = false;
    terminal.restoreWith(null);
    cli.stdin.off("data", read);
    cli.stdin.pause();
    terminal.draw(restore());
    modes.leave();
    cli.stdin.setRawMode?.(false);
  };
  cli.stdin.setEncoding("utf8");
  cli.stdin.on("end", on.end).on("error", on.lost);
  enter();
  const ask = (question: string, form: RegExp, ms: number): Query | null => {
    if (!isEntered) {
      return null;
    }
    const { promise: answered, resolve: answer } = Promise.withResolvers<RegExpExecArray>();
    const { promise: ended, resolve } = Promise.withResolvers<null>();
    const end = (): void => resolve(null);
    const timer = setTimeout(end, ms);
    const done = Promise.race([answered, ended]).finally(() => clearTimeout(timer));
    const query = { form, done, answered, answer, end };
    asked.add(query);
    terminal.draw(question);
    return query;
  };
  return {
    /** Asks the terminal; null if no answer of that form comes in time. */
    ask: async (question: string, form: RegExp, ms: number): Promise<RegExpExecArray | null> =>
      (await ask(question, form, ms)?.done) ?? null,
    /** Asks the terminal, whose answer counts however late it comes; null while somebody else has the terminal. */
    report: (question: string, form: RegExp): Promise<RegExpExecArray> | null =>
      ask(question, form, hasAnswered ? LATE_MS : KEYS_MS)?.answered ?? null,
    /** Has keys sent with all their modifiers, such as Shift-Enter, if the terminal knows how. */
    askForAllKeys: async (): Promise<void> => {
      const keys = ask(KEYS_QUESTION, KEYS_ANSWER, KEYS_MS);
      const terminalIs = ask(TERMINAL_QUESTION, TERMINAL_ANSWER, KEYS_MS);
      if (keys === null || terminalIs === null) {
        return;
      }
      // terminals answer in order: this one does not know them
      void terminalIs.answered.then(() => {
        asked.delete(keys);
        keys.end();
      });
      if ((await keys.done) !== null && isEntered) {
        knowsKeys = true;
        terminal.draw(ALL_KEYS);
        terminal.restoreWith(restore() + modes.restore);
      }
    },
    /** Returns what gives the terminal back as it was, whatever ends the program. */
    restore: (): string => restore() + modes.restore,
    /** Resolves once nothing is asked: an answer that comes later would be typed into another program. */
    settled: async (): Promise<void> => {
      await Promise.all([...asked].map(({ done }) => done));
    },
    /** Gives the terminal to somebody else, until `enter`; resolves once it is as before. */
    leave: async (): Promise<void> => {
      leave();
      await terminal.drained();
    },
    enter,
    close: async (): Promise<void> => {
      clearTimeout(tornTimer);
      pastes.close();
      cli.stdin.off("data", read);
      await discardInput(cli.stdin, pastes.pasting());
      terminal.restoreWith(null);
      cli.stdin.off("end", on.end).off("error", on.lost);
      terminal.draw(restore());
      modes.leave();
      await terminal.drained();
    },
  };
}
