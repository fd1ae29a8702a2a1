import { Type } from "typebox";

import { RepriseError } from "../../core/errors.ts";
import { SCRAPE_FRESH_MS } from "../../core/limits.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import { named } from "../../core/schemas/schemas.ts";
import { WaitingInfo } from "../../core/schemas/service-schemas.ts";
import { whetherRuns } from "../../exchange/runnable.ts";
import { readWaitingSessions } from "../../store/records/exchanges/waiting-sessions.ts";
import type { Store } from "../../store/store.ts";
import { singleFlight } from "../metrics/single-flight.ts";
import { json, problems } from "../responses.ts";
import type { Api } from "./api.ts";

/** Sessions listed at most: for each, nodes and folders are compared. */
const MAX_LISTED = 20;
/** How long a client waits for that. */
const TIMEOUT_MS = 10_000;

const schema = {
  operationId: "listWaiting",
  summary: "Lists the sessions whose next exchange waits for a node",
  description: `At most ${MAX_LISTED}, the one that waits longest first, each with whether a node runs it, and what starts one.`,
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(WaitingInfo)), { description: "The sessions that wait." }),
    ...problems(),
  },
};

export function queueRoute(app: Api, store: Store): void {
  const waiting = singleFlight({
    work: () => readWaiting(store),
    ttlMs: SCRAPE_FRESH_MS,
    timeoutMs: TIMEOUT_MS,
    timeoutError: () =>
      new RepriseError("database_unavailable", "The database did not answer in time. Try again."),
  });
  app.route({ method: "GET", url: "/api/queue", schema, handler: waiting });
}

async function readWaiting(store: Store): Promise<WaitingInfo[]> {
  const sessions = await store.read(readWaitingSessions, { limit: MAX_LISTED });
  const listed: WaitingInfo[] = [];
  for (const { id: session_id, ready_at: waits_since, ...session } of sessions) {
    const asked = { session_id, state: "queued" } as const;
    const { runnable, command } = await whetherRuns(store, asked, { besides: true });
    listed.push({ session_id, ...session, waits_since, runnable, command });
  }
  return listed;
}
