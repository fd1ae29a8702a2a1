import { type CliContext, noticeLine } from "../process/context.ts";
import type { Front } from "./front.ts";
import { dropWaiting } from "./waiting-lines.ts";

/** Ctrl-C, and whatever ends the program, stops the work. `onStop` is called when the person stops it. */
export async function interruptible<Result>(
  front: Front,
  work: (signal: AbortSignal) => Promise<Result>,
  onStop: () => void = () => undefined,
): Promise<Result> {
  const stop = new AbortController();
  front.onInterrupt(() => {
    stop.abort();
    onStop();
  });
  try {
    return await work(AbortSignal.any([stop.signal, front.leaving]));
  } finally {
    front.onInterrupt(null);
  }
}

interface Command<Result> {
  /** As the person typed it. */
  readonly text: string;
  /** False if it runs to its end whatever the person does. */
  readonly canStop: boolean;
  readonly run: (signal: AbortSignal) => Promise<Result>;
}

/**
 * Runs a command of the person and shows that it runs. When the person stops it, what waits is not sent any more; that
 * counts at once, also for a command that runs to its end. The result is null for one that was given up.
 */
export async function runCommand<Result>(
  { cli, front }: { readonly cli: CliContext; readonly front: Front },
  { text, canStop, run }: Command<Result>,
): Promise<{ readonly isStopped: boolean; readonly result: Result | null }> {
  const hide = front.working(text, canStop);
  let isStopped = false;
  const onStop = (): void => {
    isStopped = true;
    dropWaiting({ cli, front });
  };
  const work = (signal: AbortSignal): Promise<Result | null> =>
    run(signal).catch((error: unknown) => {
      if (!isStopped || error !== signal.reason) {
        throw error;
      }
      noticeLine(cli, "Stopped.");
      return null;
    });
  try {
    const result = await interruptible(front, work, onStop);
    return { isStopped, result };
  } finally {
    hide();
  }
}
