import { isRepriseError } from "../../core/errors.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { followStored } from "../../exchange/live/follow-exchange.ts";
import type { CatchUp } from "../../exchange/live/session-feeds.ts";
import type { Store } from "../../store/store.ts";
import type { LiveStreams } from "./live-streams.ts";
import type { EncodedStep } from "./shared-steps.ts";
import type { PagesInTurn } from "../unsent/pages-in-turn.ts";
import {
  createExchangeSteps,
  type ExchangeStep,
} from "../../compat/chat-protocols/exchange-steps.ts";
import type { ShownExchange } from "../../compat/chat-protocols/submit.ts";

/** The first step: the exchange has begun, and what follows comes after this message. */
export interface ExchangeBegin {
  readonly type: "begin";
  readonly after_seq: number;
}

/** The last step: what became of the exchange. */
export interface ExchangeEnd {
  readonly type: "end";
  readonly exchange: ExchangeRecord;
}

interface Reading {
  readonly store: Store;
  readonly live: Pick<LiveStreams, "events">;
  readonly pages: PagesInTurn;
}

/**
 * Follows an exchange as `followStored`, in steps that a client is shown. It ends without `end` once the signal is
 * aborted or the session is deleted.
 *
 * Error codes: `exchange_not_found`, `database_*`.
 */
export async function* exchangeSteps(
  { store, live, pages }: Reading,
  { calls, ...followed }: ShownExchange,
  signal: AbortSignal,
): AsyncGenerator<ExchangeBegin | ExchangeStep | ExchangeEnd> {
  const steps = createExchangeSteps(followed.n, calls);
  const inTurn: CatchUp<EncodedStep> = {
    read: (read) => pages.readValue(read),
    taken: () => pages.taken(),
  };
  const following = followStored(
    {
      store,
      events: ({ isNew, ...place }) => live.events(isNew ? place : { ...place, pages: inTurn }),
    },
    { ...followed, signal },
  );
  try {
    for await (const step of following) {
      switch (step.event) {
        case "queued":
          break;
        case "begun":
          yield { type: "begin", after_seq: step.after_seq };
          break;
        case "over":
          yield* steps.end(step.exchange.state === "waiting");
          yield { type: "end", exchange: step.exchange };
          break;
        default:
          yield* steps.of(step);
      }
    }
  } catch (error) {
    if (!isRepriseError(error, "session_not_found")) {
      throw error;
    }
  }
}
