import type { LiveEvent } from "./live.ts";
import type { ExchangeInfo } from "./schemas.ts";

/** Finds on the live feed of a session, archived messages included, where one exchange ends. */
export interface ExchangeEnd {
  /** True if the exchange may be over with this event: `update` has to be called before `isAfter`. */
  mayBeOver(event: LiveEvent): boolean;
  /** Takes the exchange as it is after that event. */
  update(exchange: Followed): void;
  /** True for a message that came after the exchange. */
  isAfter(event: LiveEvent): boolean;
  /** True once all that the exchange did has come. */
  readonly isOver: boolean;
}

type Followed = Pick<ExchangeInfo, "state" | "last_seq" | "queued_at">;

/**
 * `after_seq` is the position at which the feed begins. The events alone do not say where an exchange ends: values of
 * states may be missing, the next exchange may be shown before the last messages of this one, and messages of other
 * callers may be stored while it runs.
 */
export function createExchangeEnd(n: number, after_seq: number): ExchangeEnd {
  let seq = after_seq;
  let hasAnswer = false;
  /** Last message that the exchange has stored if it waits now; null if the event does not say. */
  let through: number | null = null;
  let until: number | null = null;
  const isPast = (exchange: ExchangeInfo | null): boolean =>
    exchange !== null &&
    (exchange.n > n || (exchange.n === n && !["queued", "running"].includes(exchange.state)));

  return {
    get isOver() {
      return until !== null && seq >= until;
    },
    mayBeOver: ({ event, data }) => {
      switch (event) {
        case "message": {
          seq = Math.max(seq, data.seq);
          const isNext = hasAnswer && until === null && data.role === "user";
          hasAnswer ||= data.role === "assistant";
          through = null;
          return isNext;
        }
        case "snapshot":
          through = data.last_seq;
          return isPast(data.exchange);
        case "exchange":
          through = seq;
          return isPast(data);
        default:
          return false;
      }
    },
    update: (exchange) => {
      if (isAtWork(exchange)) {
        until = null;
      } else if (exchange.state === "waiting" || exchange.state === "interrupted") {
        until = through;
      } else {
        until = exchange.last_seq ?? after_seq;
      }
    },
    isAfter: ({ event, data }) => event === "message" && until !== null && data.seq > until,
  };
}

/** True if an exchange runs or will: of one that was interrupted, `queued_at` says whether a node continues it. */
export function isAtWork({ state, queued_at }: Pick<ExchangeInfo, "state" | "queued_at">): boolean {
  return (
    state === "queued" || state === "running" || (state === "interrupted" && queued_at !== null)
  );
}
