import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { isRepriseError } from "../../core/errors.ts";
import { isDelegated } from "../../core/session-tree.ts";
import { LEASE_MS } from "../../core/limits.ts";
import type { Session } from "../../core/sessions.ts";
import { threadId } from "../../core/threads.ts";
import type { ExchangeResult } from "../../exchange/events.ts";
import { exchangeFailure } from "../../exchange/exchange-failure.ts";
import { refuseOtherAgent } from "../../exchange/other-agent.ts";
import {
  type HeldSession,
  type HoldInput,
  holdLease,
  type WhenBusy,
} from "../../exchange/lease-holder.ts";
import { createCheckpointSaver } from "../../langgraph/saver.ts";
import type { OnStored, SessionSaver } from "../../langgraph/session-saver.ts";
import { type ExchangeRows, readExchangeRows } from "../../store/checkpoints/finish.ts";
import type { LeaseState, ReleaseLease } from "../../store/records/leases/lease.ts";
import type { LeaseOwner } from "../../store/records/leases/this-process.ts";
import { beginExchange, type BegunExchange } from "../../store/records/messages/begin-exchange.ts";
import { hasBegun } from "../messages/thread-state.ts";
import type { RunningRecord } from "../../store/records/exchanges/records.ts";
import type { Feed } from "../../exchange/live/feed.ts";
import type { Reporter } from "../../exchange/report-events.ts";
import type { Fence } from "../../store/records/leases/fence.ts";
import type { Store } from "../../store/store.ts";
import { CallLedger } from "../call-ledger.ts";

export interface ThreadHolderOptions {
  readonly store: Store;
  /** Gets what the exchanges report. */
  readonly feed?: Feed;
  readonly owner: LeaseOwner;
  /** Life of the lease in milliseconds; `LEASE_MS` if it is not given. */
  readonly leaseMs?: number;
  /** See `HoldInput`. */
  readonly stopPollMs?: number;
  /** See `Holding`. */
  readonly frozen?: boolean;
  /** See `SaverParts`. */
  readonly isShownOnly?: boolean;
}

/** A session whose lease is to be taken. */
export interface HoldRequest {
  readonly session_id: string;
  /** `refuse` if it is not given. */
  readonly when_busy?: WhenBusy;
  /** True if a request for the same message has found the session busy. */
  readonly has_waited?: boolean;
  /** See `OpenExchange`. */
  readonly parent_fence?: Fence;
}

/** What was done in a session under its lease. */
export interface Worked<Result> {
  readonly thread_id: string;
  /** False if something is left to do in the thread, or nothing was done. */
  readonly finished: boolean;
  /** How the exchange ended; null if there was none. */
  readonly end: ExchangeResult["state"] | null;
  /** See `finishExchange`. */
  readonly after_seq?: number;
  readonly result: (rows: ExchangeRows) => Result;
}

/** A session's thread under its lease. */
export interface HeldThread {
  readonly held: HeldSession;
  /** Its latest checkpoint, read under the lease; undefined for a thread without checkpoints. */
  readonly tuple: CheckpointTuple | undefined;
  readonly saver: SessionSaver;
  /** Stores the exchange as begun, if it has not begun; returns how it began. */
  begin(): Promise<BegunExchange>;
  /** The record of the exchange once it has begun. */
  record(): RunningRecord | null;
  /** Gets the requests of models that are made for it. */
  readonly calls: CallLedger;
  /** How many checkpoints were stored, of whatever graph. */
  puts(): number;
}

export interface ThreadExchange<Result> {
  readonly request: HoldRequest;
  /** The session before its lease is taken. */
  readonly leaseState: LeaseState;
  /** What the exchange begins with. */
  readonly begin: Omit<NonNullable<HoldInput["begin"]>, "leaseState" | "exchange_id">;
  /** True once another process is to continue the exchange, and for an error after which one is. */
  readonly isGivenBack?: (error?: unknown) => boolean;
  /** Returns when it continues by itself after this error; null for never. */
  readonly postponedUntil?: (error: unknown, record: RunningRecord) => Promise<string | null>;
  /** Gets the record when the exchange begins. */
  readonly reporter: Pick<Reporter, "identity" | "live">;
  /** False if something has to be done in the thread before the exchange begins. */
  readonly mayBegin: (tuple: CheckpointTuple | undefined) => boolean;
  readonly onStored: OnStored;
  readonly signal: AbortSignal;
  readonly work: (thread: HeldThread) => Promise<Worked<Result>>;
}

/**
 * Works in threads of sessions under their leases, whatever agent does the work. What is known of
 * a thread is kept between its exchanges; the checkpoints of a finished exchange are pruned.
 */
export function createThreadHolder(options: ThreadHolderOptions) {
  const { store, isShownOnly } = options;
  const known = createCheckpointSaver({ store, isShownOnly });
  const { frozen } = options;

  const hold = async <Result>(
    request: HoldRequest,
    signal: AbortSignal,
    work: (held: HeldSession, begun: () => void) => Promise<Worked<Result>>,
    exchange: {
      readonly begin: HoldInput["begin"];
      readonly skips?: boolean;
      readonly isGivenBack?: ThreadExchange<Result>["isGivenBack"];
      readonly postponedUntil?: (error: unknown) => Promise<string | null>;
    } = { begin: null },
  ): Promise<Result> => {
    const { begin, skips = false, isGivenBack = () => false } = exchange;
    const held = await holdLease({
      store,
      session_id: request.session_id,
      owner: { ...options.owner, since: new Date().toISOString() },
      life_ms: options.leaseMs ?? LEASE_MS,
      stop_poll_ms: options.stopPollMs,
      when_busy: request.when_busy ?? "refuse",
      has_waited: request.has_waited === true,
      parent_fence: request.parent_fence,
      signal,
      skips,
      insists: begin?.claim !== undefined,
      begin,
    });
    // a sub-agent's is continued by its parent's
    const givenBack = isDelegated(held.session) ? ("interrupted" as const) : ("queued" as const);
    const endedAs = (end: Worked<Result>["end"]) =>
      end === "stopped" && isGivenBack() ? givenBack : end;
    let isBegun = held.begun !== null;
    let worked: Worked<Result>;
    try {
      worked = await work(held, () => (isBegun = true));
    } catch (error) {
      const finished = isRepriseError(error, "nothing_to_continue");
      const mayWait = isBegun && !signal.aborted;
      const not_before = mayWait ? ((await exchange.postponedUntil?.(error)) ?? null) : null;
      if (not_before !== null) {
        await held.release({ finished, end: givenBack, not_before });
        throw error;
      }
      const failure = isBegun ? exchangeFailure(error) : null;
      const isCut = isBegun && failure === null && !finished;
      const end = isCut && isGivenBack(error) ? { end: givenBack } : endOf(error, isBegun);
      await held.release({ finished, failure, ...end });
      throw error;
    }
    const { thread_id, finished, after_seq, end } = worked;
    if (!finished) {
      await held.release({ finished, end: endedAs(end) });
      return worked.result(await store.read(readExchangeRows, { ...held.fence, after_seq }));
    }
    const rows = await held.finish({ thread_id, after_seq, end });
    known.forgetPruned(thread_id, rows.pruned);
    return worked.result(rows);
  };

  return {
    /** Works in a session without an exchange. */
    work: <Result>(
      request: HoldRequest,
      signal: AbortSignal,
      work: (
        held: HeldSession,
        thread: Pick<HeldThread, "saver" | "calls">,
      ) => Promise<Worked<Result>>,
    ): Promise<Result> =>
      hold(request, signal, (held) => {
        const { fence } = held;
        const calls = new CallLedger({ store, fence, n: () => 0 });
        const saver = known.holding(fence, { calls });
        return keeping(calls, () => work(held, { saver, calls }));
      }),

    /**
     * Runs one exchange. It begins with the lease if nothing has to be done before.
     *
     * Error codes: `agent_differs`, as `holdLease`, and those of the work.
     */
    exchange: async <Result>(exchange: ThreadExchange<Result>): Promise<Result> => {
      const { request, leaseState, signal, onStored, reporter } = exchange;
      const { exchange_id } = reporter.identity;
      const begin = { ...exchange.begin, exchange_id, leaseState };
      let record: RunningRecord | null = null;
      const onBegun = (begun: BegunExchange, { epoch }: Fence): void => {
        ({ record } = begun);
        reporter.identity.exchange_id = record?.id ?? exchange_id;
        if (record !== null) {
          reporter.live?.begun({ n: record.n, epoch, used: begun.used });
        }
      };
      const { agent = null } = begin;
      const read = (session: Session) => known.readLatest(threadOf(session), { frozen });
      const early = isFree(leaseState) ? await read(leaseState.session) : null;
      const tuple = await early?.tuple();
      if (early !== null) {
        refuseOtherAgent(leaseState.session, { agent, hasBegun: hasBegun(tuple) });
      }
      const mayBegin = early !== null && exchange.mayBegin(tuple);
      return hold(
        request,
        signal,
        async (held, begun) => {
          const isKnown = held.begun !== null && early !== null;
          const latest = isKnown ? early : await read(held.session);
          const current = isKnown ? tuple : await latest.tuple();
          refuseOtherAgent(held.session, { agent, hasBegun: hasBegun(current) });
          let stored = held.begun;
          if (stored !== null) {
            onBegun(stored, held.fence);
          }
          let puts = 0;
          const onPut: OnStored = (...stored) => {
            puts += 1;
            onStored(...stored);
          };
          const { fence } = held;
          const calls = new CallLedger({ store, fence, n: () => record?.n ?? 0 });
          const work = () =>
            exchange.work({
              held,
              tuple: current,
              saver: known.holding(fence, { onStored: onPut, latest, frozen, calls }),
              calls,
              puts: () => puts,
              begin: async () => {
                if (stored === null) {
                  stored = await store.write(beginExchange, { ...begin, fence });
                  begun();
                  onBegun(stored, fence);
                }
                return stored;
              },
              record: () => record,
            });
          return keeping(calls, work);
        },
        {
          begin: mayBegin ? begin : null,
          skips: begin.content !== null || (begin.messages ?? []).length > 0,
          isGivenBack: exchange.isGivenBack,
          postponedUntil: async (error) =>
            record === null ? null : ((await exchange.postponedUntil?.(error, record)) ?? null),
        },
      );
    },
  };
}

/** Works, and stores the requests that no checkpoint has stored. */
async function keeping<Result>(calls: CallLedger, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    await calls.flush();
  }
}

/** How an exchange ended with an error, if the failure does not say it. */
function endOf(error: unknown, isBegun: boolean): Pick<ReleaseLease, "end"> {
  if (!isBegun) {
    return { end: null };
  }
  // it was not continued, because nobody has said whether its calls may run again
  return isRepriseError(error, "exchange_interrupted") ? { end: "interrupted" } : {};
}

/** True if the session could begin an exchange when it was read; another process may be first. */
function isFree({ session, free_epoch }: LeaseState): boolean {
  return session.activity === "idle" && free_epoch !== null;
}

function threadOf({ id, thread_suffix }: Session): string {
  return threadId(id, thread_suffix);
}
