import { onSignals } from "../process/signals.ts";
import type { CliContext } from "../process/context.ts";
import type { InputEvent, Typed } from "../chat/front.ts";
import { openPipeSource } from "./input-source.ts";
import { openTerminalSource } from "./terminal-source.ts";

export type LineInput = ReturnType<typeof openLineInput>;

/**
 * Standard input as messages, from a terminal or a pipe. What comes while an exchange is running
 * waits for its turn.
 */
export function openLineInput(cli: CliContext) {
  let queue: InputEvent[] = [];
  const leaving = new AbortController();
  let wake: (() => void) | null = null;
  let interrupt: (() => void) | null = null;

  const push = (event: InputEvent): void => {
    queue.push(event);
    source.waiting(queue.length);
    wake?.();
  };
  /** Drops lines that were read and not asked for yet, and returns how many they were. */
  const drop = (): number => {
    const lines = queue.filter((event) => event.kind === "line");
    queue = queue.filter((event) => event.kind === "end");
    source.waiting(queue.length);
    return lines.reduce((sum, { text }) => sum + text.split("\n").length, 0);
  };
  const onInterrupt = (): void => {
    if (interrupt === null) {
      const dropped = drop() + source.empty();
      push({ kind: "interrupt", dropped });
    } else {
      interrupt();
    }
  };
  const onLeave = (): void => {
    leaving.abort();
    push({ kind: "end" });
  };
  const source = (cli.stdin.isTTY === true ? openTerminalSource : openPipeSource)(cli, {
    event: push,
    interrupt: onInterrupt,
    lost: onLeave,
  });
  // in raw mode the terminal sends Ctrl-C as a key; a signal comes from elsewhere
  const ignoreInterrupts = onSignals(cli, onInterrupt, ["SIGINT"]);
  const ignoreStops = onSignals(cli, onLeave, ["SIGTERM", "SIGHUP"]);

  /**
   * The next thing that happened, in order; after `end` it stays `end`. Once `news` is aborted, the prompt goes away
   * with what is typed, and `news` is returned.
   */
  const next = async (prompt: string, news?: AbortSignal): Promise<InputEvent> => {
    const onNews = (): void => wake?.();
    if (queue.length === 0) {
      source.prompt(prompt);
    } else if (queue[0]?.kind === "line" && !queue[0].shown) {
      source.echo(prompt, queue[0].text);
    }
    news?.addEventListener("abort", onNews);
    while (queue.length === 0) {
      if (news?.aborted === true) {
        source.leaveLine();
        return { kind: "news" };
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
    news?.removeEventListener("abort", onNews);
    const [event] = queue;
    if (event === undefined || event.kind === "end" || leaving.signal.aborted) {
      return { kind: "end" };
    }
    queue.shift();
    source.waiting(queue.length);
    return event;
  };

  /** Returns what a person types or pastes after the question is shown; null at Ctrl-C, at the end and at `news`. */
  const askLine = async (
    question: string,
    news?: AbortSignal,
  ): Promise<{ readonly text: string; readonly pasted: boolean } | null> => {
    // lines typed before the question was shown do not answer it
    drop();
    source.empty();
    const stop = interrupt;
    interrupt = null;
    const event = await next(question, news);
    interrupt = stop;
    if (event.kind === "interrupt") {
      stop?.();
    } else if (event.kind === "news") {
      // a line for this question is not a message
      source.empty();
    }
    return event.kind === "line" ? event : null;
  };

  return {
    /** Aborted when the program is asked to leave: SIGTERM, SIGHUP. */
    leaving: leaving.signal,
    /** While the callback is set, Ctrl-C goes to it instead of into the queue. */
    onInterrupt: (callback: (() => void) | null): void => {
      interrupt = callback;
    },
    /** Lines that were read and not asked for yet. */
    waiting: (): number => queue.filter((event) => event.kind === "line").length,
    drop,
    /** Puts a message into the next prompt, before the lines that wait and what is typed there. */
    giveBack: (message: Typed | null): void => {
      const lines = queue.filter((event) => event.kind === "line");
      drop();
      const all: readonly Typed[] = [...(message === null ? [] : [message]), ...lines];
      source.giveBack({
        text: all.map(({ text }) => text).join("\n"),
        pasted: all.some(({ pasted }) => pasted),
      });
    },
    next,
    /** Puts a line in front of what waits: it is for the prompt, not for the question. */
    putBack: (text: string): void => {
      queue.unshift({ kind: "line", text, pasted: false, shown: false });
    },
    askLine,
    /** Returns what a person types after the question is shown; null at Ctrl-C and at the end. */
    ask: async (question: string): Promise<string | null> => {
      const line = await askLine(question);
      return line === null || line.pasted ? null : line.text;
    },
    /** Discards what is left in a terminal, and resets the terminal, before it resolves. */
    close: async (): Promise<void> => {
      ignoreInterrupts();
      await source.close();
      ignoreStops();
    },
  };
}
