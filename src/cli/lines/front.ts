import { isYes } from "../process/ask.ts";
import { type CliContext, printLines } from "../process/context.ts";
import { usageOf } from "../chat/command-usage.ts";
import type { FollowView, Front } from "../chat/front.ts";
import { greetingLines } from "../chat/greeting.ts";
import { askLine } from "./ask-line.ts";
import { openLineInput } from "./input.ts";
import { createPlainView } from "./plain-view.ts";

/** A session line by line, from a terminal or a pipe. */
export function openLines(cli: CliContext): Front {
  const input = openLineInput(cli);
  return {
    leaving: input.leaving,
    help: (commands) => [
      ...commands.map((each) => `  ${usageOf(each).padEnd(27)}${each.help}`),
      `  ${"//text".padEnd(27)}send a message that begins with /`,
    ],
    greet: async (greeting) => printLines(cli, greetingLines(greeting)),
    replay: async () => undefined,
    next: (news) => input.next("> ", news),
    onInterrupt: input.onInterrupt,
    waiting: input.waiting,
    drop: input.drop,
    giveBack: input.giveBack,
    confirm: async (question) => isYes(await input.ask(`${question} y/N `)),
    ask: (asked) => askLine(cli, input, asked),
    rewind: async (source) => (await import("./rewind-line.ts")).rewindLine(cli, input, source),
    showDetails: async () =>
      "/show needs the screen, which a terminal has without --plain, REPRISE_PLAIN and TERM=dumb.",
    pickModel: null,
    pickSession: null,
    showDiff: null,
    outside: (work) => withTerminalFree(cli, work),
    working: () => () => undefined,
    view: async () => createPlainView(cli),
    follow: () => createPlainFollow(cli),
    close: input.close,
  };
}

/** Reads nothing of a terminal, and leaves it as another program expects it, until the work is done. */
async function withTerminalFree<Result>(
  { stdin, stdout }: CliContext,
  work: () => Promise<Result>,
): Promise<Result> {
  stdin.pause();
  stdin.setRawMode?.(false);
  stdout.markPastes(false);
  try {
    return await work();
  } finally {
    stdin.setRawMode?.(true);
    stdin.resume();
    stdout.markPastes(true);
  }
}

async function createPlainFollow(cli: CliContext): Promise<FollowView> {
  const { createLiveScreen } = await import("./live-screen.ts");
  const screen = createLiveScreen({ showsText: true, answerWith: [] });
  return {
    show: (event) => cli.stdout.print(screen.show(event)),
    showMessage: (message) => cli.stdout.print(screen.showMessage(message)),
    end: () => undefined,
  };
}
