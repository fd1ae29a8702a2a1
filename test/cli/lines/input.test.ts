import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { openLineInput } from "../../../src/cli/lines/input.ts";
import { contextOf } from "../../helpers/call-program.ts";
import { freshHome } from "../../helpers/reprise.ts";

const KIB = 1024;
const PIECE = Buffer.from("y\n".repeat(32 * KIB));
/** Far more than is read ahead; then the pipe ends, so that a test that reads on fails. */
const MAX_READ = 64 * KIB * KIB;

/** Standard input that is `yes`, and how much of it was read. */
function endlessInput() {
  let read = 0;
  const stdin = new Readable({
    highWaterMark: 64 * KIB,
    read() {
      read += PIECE.length;
      this.push(read > MAX_READ ? null : PIECE);
    },
  });
  const { cli } = contextOf([], { script: "", cwd: "/", env: {} });
  const input = openLineInput({ ...cli, stdin });
  onTestFinished(() => input.close());
  return { input, read: () => read };
}

it("[CLI-314] a pipe without an end is read on as its lines are used", async () => {
  const { input, read } = endlessInput();
  for (let taken = 0; taken < 100_000; taken += 1) {
    const event = await input.next("> ");
    if (taken % 1000 === 0) {
      expect(event).toMatchObject({ kind: "line", text: "y" });
      await nextTurn();
      expect(read() - 2 * taken).toBeLessThan(5 * PIECE.length);
    }
  }
});

it("[CLI-314] a line that is larger than a message is refused, and nothing of it is sent", async () => {
  const shell = freshHome().startShell("{ echo hello; yes | tr -d '\\n'; } | reprise");
  const { code, stdout, stderr } = await shell.finished;
  expect(stdout).toMatch(/^\[demo\] Hello! /);
  expect(stderr).toContain("reprise: The message is larger than 1 MiB; ");
  expect(code).toBe(2);
});
