import type { Feed } from "./feed.ts";

/** Source of what the exchanges of this process do, before the database knows it. */
export type LiveSource = Pick<Feed, "current" | "subscribe">;

/** Source of a process that runs no exchanges. */
export const NO_SOURCE: LiveSource = {
  current: () => null,
  subscribe: () => () => undefined,
};
