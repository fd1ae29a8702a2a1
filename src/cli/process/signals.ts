import type { CliContext } from "./context.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type StopSignal = (typeof STOP_SIGNALS)[number];

/**
 * Calls the listener at each of the signals until the returned function is called. From then on a
 * signal ends the program in the system's own way.
 */
export function onSignals(
  cli: Pick<CliContext, "signals">,
  listener: (signal: StopSignal) => void,
  signals: readonly StopSignal[] = STOP_SIGNALS,
): () => void {
  const heard = signals.map((signal) => ({ signal, call: () => listener(signal) }));
  for (const { signal, call } of heard) {
    cli.signals.on(signal, call);
  }
  return () => {
    for (const { signal, call } of heard) {
      cli.signals.off(signal, call);
    }
  };
}

export type StopRequest = StopSignal | "parent_exited";

/**
 * Resolves with the signal that asks the program to stop; a second signal ends it in the system's own
 * way. npm passes a signal on to a shell, which exits without passing it on to the program: a program
 * that npm started (`npm start`, `npx`) is also asked to stop by the exit of its parent. With `parent`, a
 * stream that the parent holds open, its end does so too.
 */
export function stopRequest(
  cli: CliContext,
  parent: CliContext["stdin"] | null = null,
): Promise<StopRequest> {
  const { promise, resolve } = Promise.withResolvers<StopRequest>();
  const stopBy = (by: StopRequest): void => {
    clearInterval(watch ?? undefined);
    stopListening();
    parent?.destroy();
    resolve(by);
  };
  const stopListening = onSignals(cli, stopBy);
  const watch = STARTED_BY_NPM.has(cli.env["npm_lifecycle_event"])
    ? watchParent(cli, () => stopBy("parent_exited"))
    : null;
  parent?.once("end", () => stopBy("parent_exited")).resume();
  return promise;
}

/** Not other scripts of npm: what they start may be meant to outlive them. */
const STARTED_BY_NPM: ReadonlySet<string | undefined> = new Set(["start", "npx"]);

const PARENT_POLL_MS = 500;

/** A process whose parent exited gets another parent. */
function watchParent(cli: CliContext, onExit: () => void): NodeJS.Timeout {
  const parent = cli.parentPid();
  return setInterval(() => {
    if (cli.parentPid() !== parent) {
      onExit();
    }
  }, PARENT_POLL_MS).unref();
}
