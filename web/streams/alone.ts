import type { Host } from "./host.ts";
import type { Held, Locks } from "./locks.ts";

const grant: Locks["hold"] = (_, signal) => {
  signal.throwIfAborted();
  const held: Held = { lost: new AbortController().signal, release: () => undefined };
  return Promise.resolve(held);
};

/** For contexts without the browser's locks: no tab can know which one reads, so each that is seen reads for itself. */
export const ALONE: Pick<Host, "locks" | "openChannel"> = {
  locks: { hold: grant, steal: grant },
  openChannel: () => ({
    post: () => undefined,
    onMessage: () => undefined,
    close: () => undefined,
  }),
};
