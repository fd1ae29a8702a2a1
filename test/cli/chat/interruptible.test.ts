import { expect, it } from "vitest";

import type { CliContext } from "../../../src/cli/process/context.ts";
import type { Front } from "../../../src/cli/chat/front.ts";
import { runCommand } from "../../../src/cli/chat/interruptible.ts";

/** A front with two messages that wait, and a person who can stop what runs. */
function frontWith() {
  const said: string[] = [];
  let interrupt: (() => void) | null = null;
  let waiting = 2;
  const front: Partial<Front> = {
    leaving: new AbortController().signal,
    onInterrupt: (callback) => {
      interrupt = callback;
    },
    waiting: () => waiting,
    drop: () => {
      waiting = 0;
      return 0;
    },
    working: (text, canStop) => {
      said.push(`${text} ${canStop}`);
      return () => said.push("over");
    },
  };
  const stderr = { isTTY: true, print: (text: string) => void said.push(text.trimEnd()) };
  const cli = { stderr } as Partial<CliContext> as CliContext;
  return { front: front as Front, cli, said, stop: () => interrupt?.(), waiting: () => waiting };
}

it("[TERM-130] what waits is taken back at once, also if the command runs to its end", async () => {
  const { front, cli, said, stop, waiting } = frontWith();
  const { promise, resolve } = Promise.withResolvers<string>();
  const ran = runCommand({ cli, front }, { text: "/undo", canStop: false, run: () => promise });
  expect(waiting()).toBe(2);
  stop();
  expect(waiting()).toBe(0);
  resolve("stay");
  expect(await ran).toEqual({ isStopped: true, result: "stay" });
  expect(said).toEqual(["/undo false", "over"]);
});

it("[TERM-130] a command that gives up when it is stopped did not fail", async () => {
  const { front, cli, said, stop } = frontWith();
  const ran = runCommand(
    { cli, front },
    {
      text: "/export",
      canStop: true,
      run: async (signal) => {
        stop();
        signal.throwIfAborted();
        return "stay";
      },
    },
  );
  expect(await ran).toEqual({ isStopped: true, result: null });
  expect(said).toEqual(["/export true", "Stopped.", "over"]);
});

it("[TERM-130] what fails otherwise does, and nothing is taken back", async () => {
  const { front, cli, said, waiting } = frontWith();
  const fails = async (): Promise<string> => {
    throw new Error("no");
  };
  const ran = runCommand({ cli, front }, { text: "/copy", canStop: false, run: fails });
  await expect(ran).rejects.toThrow("no");
  expect([waiting(), said]).toEqual([2, ["/copy false", "over"]]);
});
