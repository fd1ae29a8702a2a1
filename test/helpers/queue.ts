import { type QueueExchange, queueExchange } from "../../src/store/records/exchanges/queue.ts";
import { listExchanges } from "../../src/store/records/exchanges/read.ts";
import {
  type QueuedExchange,
  readNextQueued,
  readReady,
} from "../../src/store/records/exchanges/ready.ts";
import {
  findDead,
  findUnready,
  makeReady,
  reviveDead,
} from "../../src/store/records/exchanges/revive.ts";
import type { ExchangeRecord } from "../../src/core/sessions.ts";
import type { Fence } from "../../src/store/records/leases/fence.ts";
import { readLeaseState, releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import type { LeaseOwner } from "../../src/store/records/leases/this-process.ts";
import { beginExchange, openExchange } from "../../src/store/records/messages/begin-exchange.ts";
import type { Store } from "../../src/store/store.ts";
import { execute, owner } from "./engines.ts";
import { tokenHolder } from "../../src/core/principal.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" } as const;
const CALLER = tokenHolder("owner");
const LIFE_MS = 60_000;

export function queue(
  store: Store,
  reference: string,
  content: string | null,
  more: Partial<QueueExchange> = {},
): Promise<ExchangeRecord> {
  return store.write(queueExchange, {
    reference,
    content,
    asked_by: "http",
    principal: CALLER,
    ...more,
  });
}

export interface NextExchange extends QueuedExchange {
  readonly attempts: number;
}

/** What nodes would run next, in all sessions. */
export async function readyOf(store: Store): Promise<readonly NextExchange[]> {
  const next: NextExchange[] = [];
  for (const { id } of await store.read(readReady, { limit: 1000, after: null })) {
    const queued = await store.read(readNextQueued, { session_id: id });
    if (queued !== null) {
      const { session_id, n } = queued;
      const { attempts } = await store.read(
        ({ db }) =>
          db
            .selectFrom("exchanges")
            .select("attempts")
            .where(({ and }) => and({ session_id, n }))
            .executeTakeFirstOrThrow(),
        null,
      );
      next.push({ ...queued, attempts });
    }
  }
  return next;
}

/** Begins a queued exchange as a node does. */
export async function claim(
  store: Store,
  { session_id, n, revision, content, principal }: QueuedExchange,
  by: LeaseOwner = owner,
): Promise<Fence> {
  const leaseState = await store.read(readLeaseState, { session_id });
  const begin = { content, claim: { n, revision }, principal, ...WITH };
  const lease = await store.write(openExchange, {
    session_id,
    owner: by,
    life_ms: LIFE_MS,
    begin: { ...begin, leaseState },
  });
  if (lease.begun === null) {
    try {
      await store.write(beginExchange, { ...begin, fence: lease });
    } catch (error) {
      await store.write(releaseLease, { fence: lease, finished: false, end: null });
      throw error;
    }
  }
  return { session_id, epoch: lease.epoch };
}

/** Begins the next exchange of a session; there has to be one. */
export async function claimNext(store: Store, id: string): Promise<Fence> {
  const next = (await readyOf(store)).find(({ session_id }) => session_id === id);
  if (next === undefined) {
    throw new Error("no exchange of the session is ready");
  }
  return claim(store, next);
}

/** Begins an exchange as a terminal does. */
export async function ask(store: Store, id: string, content: string | null): Promise<Fence> {
  const lease = await store.write(takeLease, { session_id: id, owner, life_ms: LIFE_MS });
  await store.write(beginExchange, { fence: lease, content, asked_by: "terminal", ...WITH });
  return { session_id: id, epoch: lease.epoch };
}

/** The process that has the lease sleeps or is dead: the lease runs out. */
export async function expire(store: Store, id: string): Promise<void> {
  const past = "2020-01-01T00:00:00.000Z";
  await execute(store, "UPDATE sessions SET lease_expires_at = ? WHERE id = ?", past, id);
}

/** What each node does every few seconds. */
export async function revive(store: Store): Promise<void> {
  for (const id of await store.read(findDead, null)) {
    await store.write(reviveDead, { id });
  }
  for (const id of await store.read(findUnready, null)) {
    await store.write(makeReady, { id });
  }
}

/** The states of all records of a session, the first one first. */
export async function statesOf(store: Store, reference: string): Promise<string[]> {
  const records = await store.read(listExchanges, { reference, limit: 1000 });
  return records.toReversed().map(({ state }) => state);
}

/** Lets the time come for which an exchange waits. */
export async function letTimeCome(store: Store, id: string): Promise<void> {
  const past = new Date(Date.now() - 1000).toISOString();
  await execute(store, "UPDATE exchanges SET not_before = ? WHERE session_id = ?", past, id);
  await execute(store, "UPDATE sessions SET ready_at = ? WHERE id = ?", past, id);
}
