import type { Locks } from "./locks.ts";

export interface Clock {
  /** In milliseconds since 1970. */
  now(): number;
  /** Ends early, without an error, when the signal is aborted or the network is back. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** What one tab sends, all the others get: in order, but nothing from before they listened. */
export interface Channel {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  close(): void;
}

/** What a tab has of its browser. */
export interface Host extends Clock {
  readonly locks: Locks;
  openChannel(name: string): Channel;
  /** Another one for each call. */
  newId(): string;
  /** For errors of listeners: they end nothing. */
  report(error: unknown): void;
}
