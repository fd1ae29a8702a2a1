import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";

import type { Conceal } from "../../core/secrets.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** A line that a person wrote for the shell. */
export interface OwnCommand {
  readonly line: string;
  /** `!!`: the agent gets what it prints. */
  readonly isForAgent: boolean;
}

/** How it ended, and what it printed on both outputs. */
export interface OwnCommandEnd {
  /** `exit code 1`, `SIGINT`, `an error: …`. */
  readonly end: string;
  /** True if the exit code is 0. */
  readonly isDone: boolean;
  readonly output: KeptText;
  readonly durationMs: number;
}

/** The beginning and the end of a text that may be long. */
interface KeptText {
  readonly head: string;
  /** Characters between them; 0 if it is whole in `head`. */
  readonly left: number;
  readonly tail: string;
}

/** Characters of an output that the agent gets, at its beginning and its end; as much as of a command that it runs. */
const MAX_HEAD = 8 * 1024;
const MAX_TAIL = 24 * 1024;
/** From the interrupt to the end by force. */
const PATIENCE_MS = 2000;
/** Time for what the shell left running, which may hold its outputs open. */
const DRAIN_MS = 200;
const POLL_MS = 20;

/**
 * The command of a message that begins with `!` or `!!`; null for another one. A space before it makes it a message.
 *
 * Error codes: `invalid_usage` if there is no command after it.
 */
export function ownCommand(text: string): OwnCommand | null {
  const [, twice, line] = /^!(!?)(.*)$/s.exec(text) ?? [];
  if (line === undefined) {
    return null;
  }
  if (line.trim() === "") {
    throw wrongUsage(
      "Write a command after !, such as !ls. With a space before the !, it is sent as a message.",
    );
  }
  return { line: line.trim(), isForAgent: twice === "!" };
}

interface Run {
  readonly line: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Gets the output as it comes. It is not cleaned. */
  readonly onText: (text: string) => void;
}

/**
 * Runs a line in `$SHELL`, else `/bin/sh`, with the person's own environment and without a sandbox or a question: the
 * person wrote it. It has no terminal and no input. An abort interrupts its process group as Ctrl-C does, and ends it
 * by force 2 s later. What it leaves running continues. Never rejects.
 */
export async function runOwnCommand(run: Run): Promise<OwnCommandEnd> {
  const begun = performance.now();
  const kept = keepText();
  const end = await runShell({
    ...run,
    onText: (text) => {
      kept.add(text);
      run.onText(text);
    },
  }).catch((error: Error) => `an error: it could not be started (${error.message})`);
  return {
    end,
    isDone: end === "exit code 0",
    output: kept.text(),
    durationMs: performance.now() - begun,
  };
}

async function runShell({ line, cwd, env, signal, onText }: Run): Promise<string> {
  const shell = env["SHELL"]?.startsWith("/") === true ? env["SHELL"] : "/bin/sh";
  // its own session: an interrupt reaches all of it, and it cannot take keys from the screen
  const child = spawn(shell, ["-c", line], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", onText);
  }
  const group = { kill: (name: NodeJS.Signals | 0) => killGroup(child.pid, name) };
  const ended = new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, name) => resolve(code === null ? `${name}` : `exit code ${code}`));
  });
  const isClosed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const stopped = stopOn(signal, group);
  try {
    const end = await ended;
    await stopped.done();
    await Promise.race([isClosed, setTimeout(DRAIN_MS)]);
    return end;
  } finally {
    stopped.cancel();
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** Interrupts a group once, and waits until it is gone. */
function stopOn(signal: AbortSignal, group: { kill(name: NodeJS.Signals | 0): boolean }) {
  let work: Promise<void> = Promise.resolve();
  const stop = (): void => {
    work = (async () => {
      const until = performance.now() + PATIENCE_MS;
      let isThere = group.kill("SIGINT");
      while (isThere && performance.now() < until) {
        await setTimeout(POLL_MS);
        isThere = group.kill(0);
      }
      if (isThere) {
        group.kill("SIGKILL");
      }
    })();
  };
  if (signal.aborted) {
    stop();
  }
  signal.addEventListener("abort", stop, { once: true });
  return { done: () => work, cancel: () => signal.removeEventListener("abort", stop) };
}

/** False if no process of it is left. */
function killGroup(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, name);
  } catch {
    return false;
  }
}

/** The message that gives the agent a command's output, without secrets of Reprise itself. */
export function ownCommandMessage(
  { line }: Pick<OwnCommand, "line">,
  { end, output }: OwnCommandEnd,
  conceal: Conceal,
): string {
  const { head, left, tail } = output;
  const cut = left === 0 ? head : `${head}\n… ${left} characters are left out here …\n${tail}`;
  const text = conceal(cut).trimEnd();
  const printed = text === "" ? "It printed nothing." : `It printed:\n\n${fenced(text)}`;
  return `I ran this command in the session's folder:\n\n${fenced(conceal(line))}\n\nIt ended with ${end}. ${printed}`;
}

/** A fence that is longer than any in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function keepText() {
  let head = "";
  let tail = "";
  let length = 0;
  return {
    add: (text: string): void => {
      length += text.length;
      const rest = text.slice(Math.max(0, MAX_HEAD - head.length));
      head += text.slice(0, text.length - rest.length);
      // cut seldom: each cut copies the tail
      tail += rest;
      tail = tail.length > 4 * MAX_TAIL ? tail.slice(-MAX_TAIL) : tail;
    },
    text: (): KeptText => {
      const end = tail.slice(-MAX_TAIL);
      if (length === head.length + end.length) {
        return { head: head + end, left: 0, tail: "" };
      }
      const shown = { head: wholeLines(head, "head"), tail: wholeLines(end, "tail") };
      return { ...shown, left: length - shown.head.length - shown.tail.length };
    },
  };
}

/** Without a line that was cut: half of a secret would not be recognised. */
function wholeLines(text: string, part: "head" | "tail"): string {
  const at = part === "head" ? text.lastIndexOf("\n") : text.indexOf("\n");
  const cut = part === "head" ? text.slice(0, at) : text.slice(at + 1);
  return (at < 0 ? text : cut).toWellFormed();
}
