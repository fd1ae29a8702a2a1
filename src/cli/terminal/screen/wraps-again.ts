type Env = Readonly<Record<string, string | undefined>>;

/** Variables that only terminals set which wrap again; over SSH they are not there. */
const VARIABLES = [
  "VTE_VERSION",
  "KITTY_WINDOW_ID",
  "ALACRITTY_WINDOW_ID",
  "WEZTERM_PANE",
  "WT_SESSION",
];
const PROGRAMS = /^(?:vscode|iTerm\.app|Apple_Terminal|WezTerm|ghostty|Hyper|Tabby)$/;
const TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|wezterm|tmux)(?:-|$)/;
/** Konsole 21.04 is the first that does. */
const KONSOLE = 210_400;

/**
 * Whether a terminal is known to wrap its rows again when its width changes, which cannot be asked. Of any other one
 * fewer rows are erased than may be there, so that no finished row is among them.
 */
export function wrapsAgain(env: Env): boolean {
  const { TERM: term = "", TERM_PROGRAM: program = "" } = env;
  if (env["TMUX"] !== undefined) {
    return true;
  }
  // a terminal that was started from one of the others has the variables of that one too
  if (env["XTERM_VERSION"] !== undefined || env["STY"] !== undefined) {
    return false;
  }
  if (/^(?:linux|screen|st)\b/.test(term)) {
    return false;
  }
  return (
    PROGRAMS.test(program) ||
    env["LC_TERMINAL"] === "iTerm2" ||
    TERMS.test(term) ||
    Number(env["KONSOLE_VERSION"] ?? 0) >= KONSOLE ||
    VARIABLES.some((name) => env[name] !== undefined)
  );
}
