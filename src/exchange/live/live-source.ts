import type { Feed } from "./feed.ts";

/** What the exchanges do that this process runs, before the database knows it. */
export type LiveSource = Pick<Feed, "current" | "subscribe">;

/** Of a process that runs no exchanges. */
export const NO_SOURCE: LiveSource = {
  current: () => null,
  subscribe: () => () => undefined,
};
