import { spawn } from "@lydell/node-pty";
import { onTestFinished } from "vitest";

import type { Home } from "./reprise.ts";
import { createScreenText } from "./screen-text.ts";

/** A real pseudo-terminal with a program in it. */
export interface Terminal {
  type(keys: string): void;
  kill(signal: NodeJS.Signals): void;
  /** All that was written to it so far. */
  written(): string;
  /** Resolves once what the screen has shown since the last wait matches. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  /** How the program ended, and all that the screen showed. */
  readonly finished: Promise<{ readonly code: number; readonly screen: string }>;
}

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";

/** Far more than any screen takes: it only says in a failure what was there instead. */
const WAIT_MS = 240_000;

/** Opens a terminal in which a shell runs a command. It is so wide that no line wraps. */
export function openTerminal(
  home: Home,
  command: string,
  env: Readonly<Record<string, string>> = {},
): Terminal {
  const pty = spawn("/bin/sh", ["-c", command], {
    name: "xterm",
    cols: 1000,
    rows: 24,
    cwd: home.project,
    // the line mode: test/helpers/screen.ts opens the screen
    env: { ...home.environment(), REPRISE_PLAIN: "1", ...env },
  });
  let written = "";
  let seen = 0;
  let gone = false;
  let look: () => void = () => undefined;
  const screen = createScreenText();
  pty.onData((text) => {
    written += text;
    screen.write(text);
    look();
  });
  const finished = new Promise<{ code: number; screen: string }>((resolve) => {
    pty.onExit(({ exitCode }) => {
      gone = true;
      look();
      resolve({ code: exitCode, screen: screen.text() });
    });
  });
  onTestFinished(async () => {
    if (!gone) {
      pty.kill("SIGKILL");
      await finished;
    }
  });
  return {
    type: (keys) => pty.write(keys),
    kill: (signal) => pty.kill(signal),
    written: () => written,
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          const unseen = screen.text().slice(seen);
          const match = pattern.exec(unseen);
          if (match !== null) {
            clearTimeout(timer);
            seen += match.index + match[0].length;
            look = () => undefined;
            resolve(match);
          } else if (gone) {
            clearTimeout(timer);
            reject(new Error(`the program ended, and ${pattern} never came: ${unseen}`));
          }
        };
        const timer = setTimeout(() => {
          const unseen = screen.text().slice(seen);
          reject(new Error(`${pattern} has not come: ${unseen}`));
        }, WAIT_MS);
        look();
      }),
    finished,
  };
}
