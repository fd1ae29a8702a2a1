import { RepriseError } from "../core/errors.ts";
import { EXCHANGE_LIMITS, type ExchangeLimits } from "../core/exchange-limits.ts";

/** The slot that a running sub-agent holds. It releases it while it waits for its own sub-agents. */
export interface ChildReservation {
  pause(): void;
  resume(): Promise<void>;
}

/** An exchange and those of its sub-agents, at every depth, together. */
export interface ExchangeTree {
  /** Called before each call of a model. Error codes: `call_limit_reached`. */
  countModelCall(): void;
  /** Ends the whole tree, and returns why: with this error, or the one that has ended it before. */
  end(error: RepriseError): RepriseError;
  /** The error with which the whole tree ends; null before. */
  ending(): RepriseError | null;
  /**
   * Runs a sub-agent once there is a slot for it. Null, without running it, if the exchange has
   * begun as many as it may.
   */
  runChild<Result>(child: ChildRun<Result>): Promise<Result> | null;
}

interface ChildRun<Result> {
  /** The slot of the sub-agent that delegates; null for the root. */
  readonly parent: ChildReservation | null;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Called if the sub-agent has to wait. */
  readonly onWait: (running: number) => void;
  readonly run: (reservation: ChildReservation) => Promise<Result>;
}

/**
 * Begins a tree at its root. No sub-agent holds a slot while it waits for another one, so the
 * sub-agents of sub-agents cannot block each other.
 */
export function createExchangeTree(limits: ExchangeLimits = EXCHANGE_LIMITS): ExchangeTree {
  const slots = createSlots(limits.childrenAtOnce);
  let modelCalls = 0;
  let children = 0;
  let ending: RepriseError | null = null;
  const end = (error: RepriseError): RepriseError => (ending ??= error);
  return {
    countModelCall: () => {
      if (modelCalls >= limits.modelCalls) {
        throw end(callLimitReached(limits.modelCalls));
      }
      modelCalls += 1;
    },
    end,
    ending: () => ending,
    runChild: (child) => {
      if (children >= limits.children) {
        return null;
      }
      children += 1;
      return runReserved(child);
    },
  };

  async function runReserved<Result>(child: ChildRun<Result>): Promise<Result> {
    child.parent?.pause();
    try {
      if (!slots.isFree()) {
        child.onWait(limits.childrenAtOnce);
      }
      await slots.take(child.signal);
      const reservation = createReservation();
      try {
        return await child.run(reservation);
      } finally {
        reservation.leave();
      }
    } finally {
      await child.parent?.resume();
    }
  }

  /** Begins with a slot that is held. */
  function createReservation(): ChildReservation & { leave(): void } {
    let isHeld = true;
    let waitsFor = 0;
    const giveUp = (): void => {
      if (isHeld) {
        isHeld = false;
        slots.giveBack();
      }
    };
    return {
      pause: () => {
        waitsFor += 1;
        giveUp();
      },
      resume: async () => {
        waitsFor -= 1;
        if (waitsFor > 0) {
          return;
        }
        await slots.takeFirst();
        isHeld = true;
        if (waitsFor > 0) {
          giveUp();
        }
      },
      leave: giveUp,
    };
  }
}

function callLimitReached(limit: number): RepriseError {
  return new RepriseError(
    "call_limit_reached",
    `This exchange has called its models ${limit} times, its sub-agents' calls included, and was stopped. REPRISE_MODEL_CALLS, or limits.model_calls in the config, sets how often it may.`,
  );
}

/** A number of slots. Callers that find none free wait, in order. */
function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    isFree: () => free > 0,
    /** Rejects with the signal's reason if it is aborted before a slot is free. */
    take: async (signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = (): void => {
        const at = waiting.indexOf(resolve);
        if (at >= 0) {
          waiting.splice(at, 1);
          reject(signal.reason);
        }
      };
      waiting.push(resolve);
      signal.addEventListener("abort", onAbort, { once: true });
      await promise.finally(() => signal.removeEventListener("abort", onAbort));
    },
    /** Takes the next free slot, before all who wait already. */
    takeFirst: async (): Promise<void> => {
      if (free > 0) {
        free -= 1;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.unshift(resolve);
      await promise;
    },
    giveBack: (): void => {
      const next = waiting.shift();
      if (next === undefined) {
        free += 1;
      } else {
        next();
      }
    },
  };
}
