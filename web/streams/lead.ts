import { ClientError } from "../../src/entries/client.ts";
import type { Feed } from "./feed.ts";
import type { Clock } from "./host.ts";
import { type Held, holdOneOf, type Locks } from "./locks.ts";
import { failureOf, type Status } from "./status.ts";

/** HTTP/1.1 has six connections for each host and browser profile: the rest are for what pages read and send. */
const SLOTS = ["reprise-stream-0", "reprise-stream-1"];
/** A tab reads without a stream if it has to wait for one for longer. */
const SLOT_MS = 300;
const POLL_MS = 3000;
const CHECK_MS = 10_000;
/** An answer that takes longer counts as none. */
const TIMEOUT_MS = 10_000;
const PAUSE_MS = { first: 500, longest: 10_000 };

export interface Leading<State, Event> {
  readonly feed: Feed<State, Event>;
  readonly host: Clock & { readonly locks: Locks };
  /** Aborted when another tab may lead. */
  readonly signal: AbortSignal;
  state(): State | null;
  publish(event: Event): void;
  setStatus(status: Status): void;
}

/**
 * Reads for all tabs, until the signal is aborted:
 *
 *     waits for a slot ──granted──> stream ──failed──> pause ──> stream …
 *       │     ^                       │
 *       └poll─┘ every 3 s             └── refused, gone, ended: nothing more
 */
export async function lead<State, Event>(leading: Leading<State, Event>): Promise<void> {
  const { host, signal } = leading;
  for (;;) {
    const waiting = new AbortController();
    const slot = holdOneOf(host.locks, SLOTS, AbortSignal.any([signal, waiting.signal]));
    slot.catch(() => undefined);
    try {
      const isOver = await pollUntil(leading, slot);
      const lost = isOver ? null : await readUntilOver(leading, await slot);
      if (lost === null) {
        return;
      }
    } finally {
      waiting.abort();
      slot.then(({ release }) => release()).catch(() => undefined);
    }
  }
}

/** True if nothing will ever be read. */
async function pollUntil<State, Event>(
  { feed, host, signal, state, publish, setStatus }: Leading<State, Event>,
  slot: Promise<Held>,
): Promise<boolean> {
  const granted = slot.then(() => true);
  granted.catch(() => undefined);
  const pause = (ms: number) => Promise.race([granted, host.pause(ms, signal).then(() => false)]);
  let asOf: number | null = null;
  for (let isGranted = await pause(SLOT_MS); !isGranted; isGranted = await pause(POLL_MS)) {
    signal.throwIfAborted();
    try {
      const events = await inTime(host, feed.poll(state()));
      signal.throwIfAborted();
      events.forEach(publish);
      asOf = host.now();
      setStatus({ kind: "polling" });
    } catch (error) {
      signal.throwIfAborted();
      const kind = failureOf(error);
      if (kind === "refused" || kind === "gone") {
        setStatus({ kind });
        return true;
      }
      setStatus({ kind, next_at: host.now() + POLL_MS, as_of: asOf });
    }
  }
  return false;
}

/** Null once nothing more can be read; else the slot was lost. */
async function readUntilOver<State, Event>(
  leading: Leading<State, Event>,
  slot: Held,
): Promise<"lost" | null> {
  const { host, signal, setStatus } = leading;
  let pauseMs = PAUSE_MS.first;
  let asOf: number | null = null;
  const heard: Heard = {
    confirm: () => {
      pauseMs = PAUSE_MS.first;
      asOf = host.now();
    },
    asOf: () => asOf,
  };
  for (;;) {
    const failed = new AbortController();
    const attempt = AbortSignal.any([signal, slot.lost, failed.signal]);
    try {
      await readOnce({ ...leading, signal: attempt }, heard, failed);
      setStatus({ kind: "ended" });
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (slot.lost.aborted) {
        return "lost";
      }
      const kind = failureOf(error);
      if (kind === "refused" || kind === "gone") {
        setStatus({ kind });
        return null;
      }
      const waitMs = pauseMs * (0.5 + Math.random() / 2);
      setStatus({ kind, next_at: host.now() + waitMs, as_of: asOf });
      await host.pause(waitMs, AbortSignal.any([signal, slot.lost]));
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS.longest);
    } finally {
      failed.abort();
    }
  }
}

/** When the service was heard of last. */
interface Heard {
  confirm(): void;
  asOf(): number | null;
}

/** One stream, with a check beside it: a stream stays open while its database is away. */
async function readOnce<State, Event>(
  leading: Leading<State, Event>,
  heard: Heard,
  failed: AbortController,
): Promise<void> {
  const { feed, signal, state, publish, setStatus } = leading;
  const checks = createChecks(leading, heard, failed);
  const onOpen = (): void => {
    heard.confirm();
    setStatus({ kind: "live" });
    checks.begin();
  };
  for await (const event of feed.read(state, { signal, onOpen })) {
    signal.throwIfAborted();
    heard.confirm();
    publish(event);
    if (feed.needsCheck(event)) {
      checks.wake();
    }
  }
  failed.signal.throwIfAborted();
}

function createChecks<State, Event>(
  { feed, host, signal, state, publish, setStatus }: Leading<State, Event>,
  heard: Heard,
  failed: AbortController,
) {
  let hasBegun = false;
  let woken = new AbortController();
  /** Returns when the next check is. */
  const check = async (): Promise<number> => {
    try {
      const eventsFor = await inTime(host, feed.check());
      if (!signal.aborted) {
        eventsFor(state()).forEach(publish);
        heard.confirm();
        setStatus({ kind: "live" });
      }
      return CHECK_MS;
    } catch (error) {
      const kind = failureOf(error);
      if (kind !== "unavailable" || signal.aborted) {
        failed.abort(error);
        return CHECK_MS;
      }
      setStatus({ kind, next_at: host.now() + POLL_MS, as_of: heard.asOf() });
      return POLL_MS;
    }
  };
  const run = async (): Promise<void> => {
    let waitMs = CHECK_MS;
    while (!signal.aborted) {
      await host.pause(waitMs, AbortSignal.any([signal, woken.signal]));
      woken = new AbortController();
      waitMs = signal.aborted ? waitMs : await check();
    }
  };
  return {
    begin: (): void => {
      if (!hasBegun) {
        hasBegun = true;
        void run();
      }
    },
    wake: (): void => woken.abort(),
  };
}

/** A service that is stopped accepts connections and never answers. */
async function inTime<Result>(host: Clock, work: Promise<Result>): Promise<Result> {
  const ended = new AbortController();
  const late = host.pause(TIMEOUT_MS, ended.signal).then(() => {
    throw new ClientError("unreachable", "The service did not answer in time.", { status: 0 });
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    ended.abort();
  }
}
