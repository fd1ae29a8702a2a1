import { expect, it } from "vitest";

import { wrapsAgain } from "../../../../src/cli/terminal/screen/wraps-again.ts";

it.each([
  [{ TERM: "xterm-256color", VTE_VERSION: "7600" }, true],
  [{ TERM: "xterm-kitty" }, true],
  [{ TERM: "foot" }, true],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, true],
  [{ TERM: "xterm-256color", KONSOLE_VERSION: "230804" }, true],
  [{ TERM: "xterm-256color", LC_TERMINAL: "iTerm2" }, true],
  [{ TERM: "screen-256color", TMUX: "/tmp/tmux-0/default,1,0" }, true],
  // nothing is known of it: it may be xterm, PuTTY or mosh over SSH
  [{ TERM: "xterm-256color" }, false],
  [{}, false],
  [{ TERM: "xterm-256color", KONSOLE_VERSION: "200400" }, false],
  [{ TERM: "xterm-256color", XTERM_VERSION: "XTerm(390)" }, false],
  [{ TERM: "linux" }, false],
  // started in a window of GNOME's terminal
  [{ TERM: "xterm", XTERM_VERSION: "XTerm(390)", VTE_VERSION: "7600" }, false],
  [{ TERM: "screen", STY: "1.pts-0", VTE_VERSION: "7600" }, false],
])("[TERM-117] is known of a terminal only by its own name: %j", (env, expected) => {
  expect(wrapsAgain(env)).toBe(expected);
});
