import { oneLine } from "../../../core/text/terminal-text.ts";
import type { Notifications } from "../../../rules/config/user-config.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** An exchange that took less is one that a person waited for. */
const MIN_MS = 20_000;
const MAX_TITLE = 100;
const MAX_TEXT = 200;

const REPORT_FOCUS = "\u001b[?1004h";
const REPORT_NO_FOCUS = "\u001b[?1004l";
const KEEP_TITLE = "\u001b[22;2t";
const RESTORE_TITLE = "\u001b[23;2t";

/** Signs for a person whose eyes are elsewhere. */
export interface Attention {
  /** Before anything else, and again after another program had the terminal. */
  enter(): void;
  /** Gives back the title that the window had. */
  leave(): void;
  /** Text that `leave` sends, for a program that ends without it. */
  readonly restore: string;
  /** Sets the title of the window. */
  title(text: string): void;
  /** Takes a report of the terminal about its focus; false for anything else. */
  focus(data: string): boolean;
  /** The exchange begins, or continues after an answer. */
  began(): void;
  /** Called once the exchange has ended, or asks. */
  stopped(sentence: string): void;
}

/**
 * Notifies when an exchange of over 20 s ends or asks, unless the terminal is known to have the focus. `system` is a
 * notification of the desktop in terminals that are known to have them (not inside tmux or screen), and else a bell.
 */
export function createAttention(options: {
  /** Asked when it is needed: the config may not be read yet. */
  readonly setting: () => Notifications;
  readonly env: Env;
  /** Writes sequences to the terminal. */
  readonly send: (sequence: string) => void;
  /** Milliseconds of any clock that only moves forward. */
  readonly now: () => number;
}): Attention {
  const { setting, env, send, now } = options;
  let hasFocus = false;
  let begin = now();
  let title = "";
  /** After `leave` the window has its own title. */
  let isEntered = false;
  // others would show the sequences
  const known = (sequence: string): string => (isPlain(env) ? "" : sequence);
  const restore = known(REPORT_NO_FOCUS + RESTORE_TITLE);
  const showTitle = (): void => {
    if (title !== "" && isEntered) {
      send(known(`\u001b]2;${title}\u0007`));
    }
  };
  return {
    enter: () => {
      isEntered = true;
      send(known(KEEP_TITLE + REPORT_FOCUS));
      showTitle();
    },
    leave: () => {
      isEntered = false;
      send(restore);
    },
    restore,
    title: (text) => {
      const line = shortText(text, MAX_TITLE);
      if (line !== title) {
        title = line;
        showTitle();
      }
    },
    focus: (data) => {
      const isReport = data === "\u001b[I" || data === "\u001b[O";
      hasFocus = isReport ? data === "\u001b[I" : hasFocus;
      return isReport;
    },
    began: () => {
      begin = now();
    },
    stopped: (sentence) => {
      if (!hasFocus && now() - begin >= MIN_MS && setting() !== "off") {
        send((setting() === "system" ? desktopSequence(sentence, env) : null) ?? "\u0007");
      }
    },
  };
}

/** OSC 9 or 777, by terminal: one that knows neither may take them for something else. Null for other terminals. */
function desktopSequence(sentence: string, env: Env): string | null {
  const { TERM: term = "", TERM_PROGRAM: program = "" } = env;
  if (env["TMUX"] !== undefined || /^(screen|tmux)/.test(term) || isPlain(env)) {
    return null;
  }
  const text = `Reprise: ${shortText(sentence, MAX_TEXT)}`;
  if (/^(iTerm\.app|WezTerm|ghostty)$/.test(program) || /^xterm-(kitty|ghostty)$/.test(term)) {
    return `\u001b]9;${text}\u0007`;
  }
  const isNotify = program === "WarpTerminal" || /^(foot|rxvt)/.test(term);
  return isNotify || env["VTE_VERSION"] !== undefined
    ? `\u001b]777;notify;Reprise;${shortText(sentence, MAX_TEXT).replaceAll(";", ",")}\u0007`
    : null;
}

function isPlain({ TERM: term = "" }: Env): boolean {
  return term === "" || term === "dumb" || term === "linux";
}

function shortText(text: string, max: number): string {
  const line = Array.from(oneLine(text.slice(0, 4 * max)));
  return line.length > max ? `${line.slice(0, max - 1).join("")}…` : line.join("");
}
