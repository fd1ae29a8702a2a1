import { ALONE } from "./alone.ts";
import type { Channel, Clock, Host } from "./host.ts";
import { browserLocks } from "./locks.ts";
import { newId } from "./new-id.ts";

/** This tab. Only secure contexts have `navigator.locks`. */
export function browserHost(): Host {
  const locks = "locks" in navigator ? navigator.locks : undefined;
  const shared = locks === undefined ? ALONE : { openChannel, locks: browserLocks(locks) };
  return { ...clock, newId, report: reportError, ...shared };
}

/** Calls with true when the reader may see this tab, and with false when not. Returns what the value is now. */
export function watchVisibility(onChange: (isSeen: boolean) => void): boolean {
  let isAway = false;
  let isFrozen = false;
  const isSeen = (): boolean => document.visibilityState === "visible" && !isAway && !isFrozen;
  const tell = (): void => onChange(isSeen());
  document.addEventListener("visibilitychange", tell);
  // a page that the browser keeps for its "back" button, or stops to save energy, runs again later
  addEventListener("pagehide", () => {
    isAway = true;
    tell();
  });
  addEventListener("pageshow", () => {
    isAway = false;
    tell();
  });
  document.addEventListener("freeze", () => {
    isFrozen = true;
    tell();
  });
  document.addEventListener("resume", () => {
    isFrozen = false;
    tell();
  });
  return isSeen();
}

const clock: Clock = {
  now: () => Date.now(),
  pause: (ms, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ended = new AbortController();
    const timer = setTimeout(resolve, signal.aborted ? 0 : ms);
    const options = { once: true, signal: ended.signal };
    signal.addEventListener("abort", () => resolve(), options);
    addEventListener("online", () => resolve(), options);
    return promise.finally(() => {
      clearTimeout(timer);
      ended.abort();
    });
  },
};

export function openChannel(name: string): Channel {
  const channel = new BroadcastChannel(name);
  return {
    post: (message) => channel.postMessage(message),
    onMessage: (listener) => {
      channel.addEventListener("message", ({ data }) => listener(data));
    },
    close: () => channel.close(),
  };
}
