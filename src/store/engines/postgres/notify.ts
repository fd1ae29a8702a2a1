import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";

import type { CommitListener } from "../../store.ts";
import type { ChosenServer, Servers } from "./servers.ts";

export interface Notifications {
  /** Notifies other nodes of touched sessions: soon, and several at once. */
  send(sessionIds: ReadonlySet<string>): void;
  /** Listens for what other nodes announce from now on. */
  listen(): void;
  /** Sends what waits, if the server is there at once. Idempotent. */
  close(): Promise<void>;
}

const CHANNEL = "reprise";
/**
 * The least time between two NOTIFY, each of which takes a lock of the whole server; what is
 * touched meanwhile goes together. The first one after a pause goes at once.
 */
const GATHER_MS = 20;
/** The server takes less than 8,000 bytes in one. */
const PAYLOAD_BYTES = 7900;
/** Sessions that wait while the server is away; beyond it the polls of other nodes find them. */
const MAX_WAITING = 10_000;
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
/** How long closing waits for the last hints. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Wakes other nodes by LISTEN and NOTIFY on a separate connection, outside every transaction: a
 * NOTIFY within one would make all commits of the server queue up. A hint that is lost costs only
 * the time until the next poll, so failures are ignored.
 *
 * The connection is made when there is something to say or somebody who listens. `onHint` is called
 * with the sessions that other nodes touched.
 */
export function createNotifications(servers: Servers, onHint: CommitListener): Notifications {
  const waiting = new Set<string>();
  const closing = new AbortController();
  let listening = false;
  let wakeUp = Promise.withResolvers<void>();
  let running: Promise<void> | null = null;

  const wake = (): void => {
    wakeUp.resolve();
    if (!closing.signal.aborted) {
      running ??= run();
    }
  };

  const run = async (): Promise<void> => {
    for (let wait = MIN_RETRY_MS; !closing.signal.aborted;) {
      const began = performance.now();
      await connectOnce().catch(() => undefined);
      wait = performance.now() - began > MAX_RETRY_MS ? MIN_RETRY_MS : wait * 2;
      await sleep(Math.min(wait, MAX_RETRY_MS), null, { signal: closing.signal }).catch(
        () => undefined,
      );
    }
  };

  const connectOnce = async (): Promise<void> => {
    const server = await servers.find();
    const client = new Client(server.config);
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => undefined);
    client.on("error", lost.reject);
    client.on("end", () => lost.reject(new Error("the connection ended")));
    const onLeft = (): void => lost.reject(new Error("another server was chosen"));
    server.left.addEventListener("abort", onLeft);
    try {
      await connectTo(server, client);
      await converse(client, lost.promise);
    } catch (error) {
      // a standby refuses LISTEN and NOTIFY
      servers.leaveIfReadOnly(server, error);
    } finally {
      server.left.removeEventListener("abort", onLeft);
      await client.end().catch(() => undefined);
    }
  };

  const connectTo = async (server: ChosenServer, client: Client): Promise<void> => {
    try {
      await client.connect();
    } catch (error) {
      servers.failed(server, error);
      throw error;
    }
  };

  /** Until the connection is lost, or closing has sent what waited. */
  const converse = async (client: Client, lost: Promise<never>): Promise<void> => {
    const self = await pidOf(client);
    client.on("notification", ({ processId, payload }) => {
      if (processId !== self) {
        onHint(new Set((payload ?? "").split(",").filter((id) => id !== "")));
      }
    });
    let isListening = false;
    let sentAt = -GATHER_MS;
    for (;;) {
      wakeUp = Promise.withResolvers();
      if (listening && !isListening) {
        isListening = true;
        await client.query(`LISTEN ${CHANNEL}`);
      }
      if (waiting.size > 0) {
        await notify(client, waiting);
        sentAt = performance.now();
      }
      if (closing.signal.aborted) {
        return;
      }
      if (waiting.size === 0) {
        await Promise.race([wakeUp.promise, lost]);
      }
      const early = sentAt + GATHER_MS - performance.now();
      if (early > 0) {
        await sleep(early, null, { signal: closing.signal }).catch(() => undefined);
      }
    }
  };

  return {
    send: (sessionIds) => {
      if (waiting.size > MAX_WAITING) {
        waiting.clear();
      }
      for (const id of sessionIds) {
        waiting.add(id);
      }
      wake();
    },
    listen: () => {
      listening = true;
      wake();
    },
    close: async () => {
      closing.abort();
      wake();
      await Promise.race([running, sleep(CLOSE_TIMEOUT_MS, null, { ref: false })]);
    },
  };
}

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}

/**
 * A hint may get lost in a crash, so its commit does not wait for the disk. The setting
 * is local to this statement: behind a pooler, the connection serves other transactions next.
 */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, payload)
  FROM unnest($2::text[]) AS payload`;

/** Sends hints; what could not be sent waits for the next connection. */
async function notify(client: Client, waiting: Set<string>): Promise<void> {
  const ids = [...waiting];
  waiting.clear();
  try {
    await client.query(NOTIFY, [CHANNEL, payloadsOf(ids)]);
  } catch (error) {
    for (const id of ids) {
      waiting.add(id);
    }
    throw error;
  }
}

/** As few texts as hold all ids, with commas between. */
export function payloadsOf(ids: readonly string[]): string[] {
  const payloads: string[] = [];
  let payload = "";
  for (const id of ids) {
    if (payload.length + 1 + id.length > PAYLOAD_BYTES) {
      payloads.push(payload);
      payload = id;
    } else {
      payload = payload === "" ? id : `${payload},${id}`;
    }
  }
  return payload === "" ? payloads : [...payloads, payload];
}
