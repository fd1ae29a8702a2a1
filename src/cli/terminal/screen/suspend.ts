import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds after which a process that still runs was not stopped: no shell would continue it. */
const NOT_STOPPED_MS = 100;

/** Stops the process group, as Ctrl-Z does in a terminal that is not in raw mode; resolves once it continues. */
export async function suspendProcess(process: NodeJS.Process): Promise<void> {
  const over = new AbortController();
  const listeners = process.listeners("SIGTSTP");
  // with a listener the signal would not stop the process
  process.removeAllListeners("SIGTSTP");
  const continued = new Promise<void>((resolve) => process.once("SIGCONT", resolve));
  process.kill(0, "SIGTSTP");
  await Promise.race([
    continued,
    sleep(NOT_STOPPED_MS, undefined, { signal: over.signal }).catch(() => undefined),
  ]);
  over.abort();
  for (const listener of listeners) {
    process.on("SIGTSTP", listener);
  }
}
