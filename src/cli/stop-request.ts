import type { CliContext } from "./context.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export type StopRequest = (typeof STOP_SIGNALS)[number] | "parent_exited";

/**
 * Settles with the signal that asks the program to stop; a second signal ends it in the system's own
 * way. npm passes a signal on to a shell, which exits without passing it on to the program: a program
 * that npm started (`npm start`, `npx`) is also asked to stop by the exit of its parent.
 */
export function stopRequest(cli: CliContext): Promise<StopRequest> {
  const { promise, resolve } = Promise.withResolvers<StopRequest>();
  const listeners = STOP_SIGNALS.map((signal) => ({ signal, stop: () => stopBy(signal) }));
  const watch = STARTED_BY_NPM.has(cli.env["npm_lifecycle_event"])
    ? watchParent(cli, () => stopBy("parent_exited"))
    : null;
  const stopBy = (by: StopRequest): void => {
    clearInterval(watch ?? undefined);
    for (const { signal, stop } of listeners) {
      cli.signals.off(signal, stop);
    }
    resolve(by);
  };
  for (const { signal, stop } of listeners) {
    cli.signals.on(signal, stop);
  }
  return promise;
}

/** Not other scripts of npm: what they start may be meant to go on after them. */
const STARTED_BY_NPM: ReadonlySet<string | undefined> = new Set(["start", "npx"]);

const PARENT_POLL_MS = 500;

/** A process whose parent exited gets another parent. */
function watchParent(cli: CliContext, onExit: () => void): NodeJS.Timeout {
  const parent = cli.parentPid();
  const poll = (): void => {
    if (cli.parentPid() !== parent) {
      onExit();
    }
  };
  return setInterval(poll, PARENT_POLL_MS).unref();
}
