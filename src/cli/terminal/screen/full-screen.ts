import type { CliContext } from "../../process/context.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import { onSignals } from "../../process/signals.ts";
import { openFull, type OpenView } from "./open-full.ts";
import { createKeySplitter, matchesKey } from "../pi/keys.ts";
import { openTty } from "./tty.ts";

/**
 * Shows a view until it is done, for a command without a screen of a conversation. `left` is the result if the program
 * is asked to leave: SIGINT, SIGTERM, SIGHUP, the end of the input. The terminal is as before when the promise
 * settles, and while the program is stopped by Ctrl-Z; what was typed and not read is dropped.
 */
export async function showFull<Result>(
  cli: CliContext,
  terminal: RawTerminal,
  {
    open,
    left,
  }: {
    readonly open: OpenView<Result>;
    readonly left: Result;
  },
): Promise<Result> {
  const { promise: leaving, resolve } = Promise.withResolvers<Result>();
  const leave = (): void => resolve(left);
  const splitKeys = createKeySplitter((key) => {
    if (matchesKey(key, "ctrl+z")) {
      void suspend();
    } else {
      full.key(key);
    }
  });
  let isStopped = false;
  const suspend = async (): Promise<void> => {
    if (isStopped) {
      return;
    }
    isStopped = true;
    full.leave();
    await tty.leave();
    await cli.suspend();
    isStopped = false;
    if (!isOver) {
      tty.enter();
      full.enter();
    }
  };
  const onStop = (): void => void suspend();
  let isOver = false;
  const tty = openTty(cli, terminal, {
    keys: splitKeys,
    paste: (text) => full.paste(text),
    end: leave,
    lost: leave,
  });
  const full = openFull(terminal, { open, restore: tty.restore });
  const ignoreSignals = onSignals(cli, leave);
  cli.signals.on("SIGTSTP", onStop);
  try {
    return await Promise.race([full.result, leaving]);
  } finally {
    isOver = true;
    full.close();
    await tty.settled();
    await tty.close();
    cli.signals.off("SIGTSTP", onStop);
    ignoreSignals();
  }
}
