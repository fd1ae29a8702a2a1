import { expect } from "vitest";

import {
  type ExchangeEventName,
  type ExchangeState,
  stateAfter,
} from "../../src/core/exchanges.ts";
import { listExchanges } from "../../src/store/records/exchanges/read.ts";
import type { Store } from "../../src/store/store.ts";

/** What a reader sees of a record. */
export interface Seen {
  readonly state: ExchangeState;
  readonly attempts: number;
  readonly revision: number;
}

export async function seen(store: Store, reference: string): Promise<readonly Seen[]> {
  const records = await store.read(listExchanges, { reference, limit: 1000 });
  const counted = await store.read(
    ({ db }) =>
      db
        .selectFrom("exchanges")
        .select(["n", "attempts"])
        .where("session_id", "=", reference)
        .execute(),
    null,
  );
  return records.toReversed().map(({ n, state, revision }) => ({
    state,
    revision,
    attempts: counted.find((each) => each.n === n)?.attempts ?? 0,
  }));
}

/** The states of its questions, by id. */
export async function questionsOf(store: Store, id: string): Promise<ReadonlyMap<string, string>> {
  const rows = await store.read(
    ({ db }) =>
      db.selectFrom("questions").select(["id", "state"]).where("session_id", "=", id).execute(),
    null,
  );
  return new Map(rows.map((row) => [row.id, row.state]));
}

const EVENTS: readonly ExchangeEventName[] = [
  ...(["begin", "wait", "interrupt", "give_back", "finish"] as const),
  ...(["fail", "answer", "continue", "stop"] as const),
];

/** Each record changed as the table says, in one step or several, and only with a higher revision. */
export function expectLegal(before: readonly Seen[], now: readonly Seen[]): void {
  for (const [index, { state, revision }] of before.entries()) {
    const next = now[index]!;
    expect(reachable(state)).toContain(next.state);
    expect(next.revision).toBeGreaterThanOrEqual(revision);
  }
}

function reachable(from: ExchangeState): ReadonlySet<ExchangeState> {
  const found = new Set([from]);
  for (const state of found) {
    for (const event of EVENTS) {
      const next = stateAfter(state, event);
      if (next !== null) {
        found.add(next);
      }
    }
  }
  return found;
}
