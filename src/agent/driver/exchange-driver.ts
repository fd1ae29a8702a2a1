import type { ExchangeResult } from "../../exchange/events.ts";
import { type ExchangeRequest, isGivenBack, type Live } from "../../exchange/exchanger.ts";
import { postponedUntil } from "../../exchange/postponed.ts";
import { readExchange } from "../../store/records/exchanges/read.ts";
import { createReporter, type Report, reportEnd } from "../../exchange/report-events.ts";
import {
  createThreadHolder,
  type HeldThread,
  type ThreadExchange,
  type ThreadHolderOptions,
  type Worked,
} from "./thread-holder.ts";

/** Request of an exchange, for every agent. */
export type DrivenRequest = Omit<ExchangeRequest, "text" | "keep_partial" | "parent_n">;

/** An exchange that nothing refuses. Its session's lease is not taken. */
export interface ReadyExchange extends Pick<
  ThreadExchange<ExchangeResult>,
  "leaseState" | "mayBegin" | "onStored"
> {
  /** Beginning of the exchange, besides who asks for it. */
  readonly begin: Omit<ThreadExchange<ExchangeResult>["begin"], "principal" | "asked_by" | "claim">;
  /** True if a service runs it, or the exchange above it. */
  readonly isOfService: boolean;
  /** True if a person at a terminal waits for it. */
  readonly isAttended: boolean;
  /** True if it continues by itself once a limit is over that it reached. */
  readonly waitsForLimits?: boolean;
  /** Called under the lease. The signal of its `live` also hears stops that others ask for. */
  readonly work: (thread: HeldThread, live: Live) => Promise<Worked<ExchangeResult>>;
}

/** Takes the lease and runs the exchange. */
export type Hold = (ready: ReadyExchange) => Promise<ExchangeResult>;

/**
 * Runs exchanges of agents, whichever they are: under the session's lease, with events and a record.
 *
 * Error codes: as the thread holder's `exchange`, and those of the agent.
 */
export function createExchangeDriver(options: ThreadHolderOptions) {
  const threads = createThreadHolder(options);
  return {
    /** As of the thread holder. */
    work: threads.work,
    /** Runs an exchange, which `prepare` refuses or runs with `hold`, and reports how it ends. */
    run: (
      request: DrivenRequest,
      live: Live,
      prepare: (report: Report, hold: Hold) => Promise<ExchangeResult>,
    ): Promise<ExchangeResult> => {
      const { session_id, principal, asked_by, claim } = request;
      const reporter = createReporter(live.listener, { session_id, feed: options.feed });
      const hold: Hold = ({ begin, isOfService, isAttended, waitsForLimits, work, ...ready }) =>
        threads.exchange({
          ...ready,
          request,
          reporter,
          signal: live.signal,
          begin: {
            ...begin,
            principal,
            ...(asked_by === undefined ? {} : { asked_by }),
            ...(claim === undefined ? {} : { claim }),
          },
          isGivenBack: (error) => isGivenBack(isOfService, live, error),
          ...(waitsForLimits === true
            ? {
                postponedUntil: async (error, { n }) => {
                  const { begun_at } = await options.store.read(readExchange, {
                    reference: session_id,
                    n,
                  });
                  return postponedUntil(error, { begun_at, now: Date.now() });
                },
              }
            : {}),
          work: (thread) =>
            work(thread, {
              ...live,
              onOutput: (output) => {
                if (output.session_id === session_id) {
                  reporter.live?.printed(output);
                }
                live.onOutput?.(output);
              },
              repeats: live.repeats ?? (isAttended ? "ask" : "never"),
              signal: AbortSignal.any([live.signal, thread.held.stop]),
            }),
        });
      return reportEnd(reporter.report, () => prepare(reporter.report, hold));
    },
  };
}
