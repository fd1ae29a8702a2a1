/**
 * Report of the service about itself while it runs. Nothing in it is a client's own text: methods, routes and
 * statuses are closed sets, so counting them needs no bound.
 */
export type Observation =
  | {
      readonly kind: "request";
      readonly method: string;
      /** The pattern of the route, or `none`. */
      readonly route: string;
      /** Null if the client was gone before it. */
      readonly status: number | null;
      readonly ms: number;
    }
  /** Answered below HTTP's routes: what could not be read. */
  | { readonly kind: "unreadable"; readonly status: number }
  | { readonly kind: "append"; readonly bytes: number }
  /** A page of messages was written to a stream. */
  | {
      readonly kind: "delivery";
      readonly messages: number;
      /** From storing to writing, of each message that was stored while the stream was up to date. */
      readonly lagsMs: readonly number[];
    }
  /** A stream whose reader took nothing was cut. */
  | { readonly kind: "stalled" }
  /** A model that this process asked has answered. */
  | { readonly kind: "usage"; readonly input: number; readonly output: number }
  /** A provider refused the earlier reasoning of a thread. */
  | { readonly kind: "reasoning_dropped" }
  /** Result of a readiness probe; `late` if it took longer than `PROBE_TIMEOUT_MS`. */
  | { readonly kind: "probe"; readonly result: "ready" | "failed" | "late" }
  | {
      readonly kind: "operation";
      readonly operation: "read" | "write";
      /** `done`, the error code of a refusal, or `failed`. */
      readonly outcome: string;
      readonly ms: number;
    };

/** Receives each observation at the moment it is made. Must not throw, and takes microseconds. */
export type Observe = (observation: Observation) => void;

/** Exchanges of the queue that a process runs. */
export interface Jobs {
  readonly running: number;
  readonly max: number;
}
