import { existsSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

import { describe, expect, it, vi } from "vitest";

import { freshHome, type Home } from "../helpers/reprise.ts";
import { CTRL_C, CTRL_D } from "../helpers/terminal.ts";
import { detailOf, idLike, rowsOf, seed, sessionsOf } from "../helpers/sessions/seed.ts";
import { ID, slowThenFast } from "../helpers/slow-answer.ts";

/** util-linux' `script` gives a program a separate terminal. */
const canMakeTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

interface Terminal {
  type(keys: string): void;
  /** Takes the terminal away, as closing its window does. */
  close(): void;
  /** Resolves once what the screen has shown since the last wait matches. */
  shows(pattern: RegExp): Promise<void>;
  /** What it showed and how it ended. */
  readonly finished: Promise<{ readonly code: number | null; readonly screen: string }>;
}

function openTerminal(home: Home, command: string): Terminal {
  const running = home.startShell(`exec script -qfec '${command}' /dev/null`, {
    env: { TERM: "xterm", REPRISE_PLAIN: "1" },
  });
  const screen = (): string => stripVTControlCharacters(running.stdout()).replaceAll("\r", "");
  let seen = 0;
  return {
    type: (keys) => running.child.stdin?.write(keys),
    close: () => void running.stop("SIGKILL"),
    shows: (pattern) =>
      vi.waitFor(
        () => {
          const match = pattern.exec(screen().slice(seen));
          expect(match, `the screen shows: ${screen().slice(seen)}`).not.toBeNull();
          seen += (match?.index ?? 0) + (match?.[0].length ?? 0);
        },
        { timeout: 240_000, interval: 20 },
      ),
    finished: running.finished.then(({ code }) => ({ code, screen: screen() })),
  };
}

describe.skipIf(!canMakeTerminal)("in a terminal (needs util-linux' script)", () => {
  it("[CLI-47] greets, prompts, shows answers, continues after a refusal and leaves at Ctrl-D", async () => {
    const home = freshHome();
    const terminal = openTerminal(home, "reprise");
    await terminal.shows(/reprise \d+\.\d+\.\d+ · assistant · demo:echo\n/);
    await terminal.shows(/A new session\. \/help shows the commands/);
    await terminal.shows(/The offline demo answers[^\n]*\n[^\n]*reprise setup[^\n]*\n> $/);
    expect(await sessionsOf(home)).toEqual([]);
    terminal.type("My name is Ada\r");
    await terminal.shows(/\n\[demo\] Hello![^\n]*Nice to meet you, Ada\.[^\0]*\n> $/);
    terminal.type("/nonsense\r");
    await terminal.shows(/reprise: There is no such command[^\n]*\n> $/);
    terminal.type("/clear\r");
    await terminal.shows(/begin a fresh context\? y\/N $/);
    terminal.type("y\r");
    await terminal.shows(/the agent has a fresh context \(thread 1\)\.\n> $/);
    terminal.type(CTRL_D);
    const [session] = await sessionsOf(home);
    const { code, screen } = await terminal.finished;
    expect(code).toBe(0);
    expect(screen.endsWith(`Resume with: reprise --session ${session?.id}\n`)).toBe(true);
  });

  it("[CLI-39] a window that is closed keeps the text that had arrived", async () => {
    const { home } = await slowThenFast();
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    terminal.type("the question\r");
    await terminal.shows(/\nw0 w1 w2 /);
    terminal.close();
    await vi.waitFor(
      async () => {
        const detail = await detailOf(home, ID);
        expect(detail.activity).toBe("idle");
        expect(rowsOf(detail)).toEqual([
          [1, "user", "the question"],
          [2, "assistant", expect.stringMatching(/^w0 w1 w2 /)],
        ]);
      },
      { timeout: 240_000, interval: 200 },
    );
  });

  it("[CLI-47] [CLI-123] Ctrl-C stops an answer without leaving; at the prompt, the second one leaves", async () => {
    const { home } = await slowThenFast();
    const terminal = openTerminal(home, "reprise --session abcdef");
    await terminal.shows(/Session abcdef1\S+:0 · 0 messages · no title yet\n> $/);
    terminal.type("the question\r");
    await terminal.shows(/\nw0 w1 w2 /);
    terminal.type(CTRL_C);
    await terminal.shows(/Stopped. The part above is kept\.\n> $/);
    terminal.type("the next\r");
    await terminal.shows(/\na short one\n> $/);
    terminal.type(CTRL_C);
    await terminal.shows(/Press Ctrl-C again or type \/exit to leave; the session is kept\.\n> $/);
    terminal.type("/help\r");
    await terminal.shows(/\/\/text[^\n]*\n> $/);
    terminal.type(CTRL_C);
    await terminal.shows(/Ctrl-C again[^\n]*\n> $/);
    terminal.type(CTRL_C);
    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(rowsOf(await detailOf(home, "abcdef"))).toEqual([
      [1, "user", "the question"],
      [2, "assistant", expect.stringMatching(/^w0 w1 w2 /)],
      [3, "user", "the next"],
      [4, "assistant", "a short one"],
    ]);
  });

  it("[CLI-48] [TERM-58] resume without an id and without a screen offers the latest active sessions by number", async () => {
    const home = freshHome();
    await seed(
      home,
      { messages: ["the older"] },
      { messages: ["over"], ended: true },
      { id: idLike("abcdef1"), messages: ["the latest"] },
    );
    const terminal = openTerminal(home, "reprise sessions resume");
    await terminal.shows(/ 1 {2}abcdef10 [^\n]*the latest\n 2 [^\n]*the older\nWhich one\? $/);
    terminal.type("1\r");
    await terminal.shows(/Session abcdef1\S+:0 · 1 message · the latest\n[^\0]*> $/);
    terminal.type("/end\r");
    await terminal.shows(/for good\? y\/N $/);
    terminal.type("y\r");
    const { code, screen } = await terminal.finished;
    expect(code).toBe(0);
    expect(screen).toContain(`Session ${idLike("abcdef1")} has ended.`);
    expect(screen).not.toContain("over\n");
    const other = openTerminal(home, "env TERM=dumb reprise resume");
    await other.shows(/Which one\? $/);
    other.type("7\r");
    expect((await other.finished).code).toBe(2);
    for (const key of [CTRL_C, CTRL_D]) {
      const left = openTerminal(home, "reprise resume --plain");
      await left.shows(/Which one\? $/);
      left.type(key);
      expect(await left.finished).toMatchObject({
        code: 0,
        screen: expect.not.stringContaining("reprise:"),
      });
    }
  });
});
