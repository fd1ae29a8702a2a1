import type { Session } from "../../core/sessions.ts";
import { batches } from "../../store/records/threads/bodies.ts";
import { readCurrent } from "../../store/records/exchanges/current.ts";
import { readQueued } from "../../store/records/exchanges/queued-sessions.ts";
import type { Store } from "../../store/store.ts";
import { failuresOf, shownState } from "./table.ts";

/** As `shownState`; a session that waits for the answer of a person is `waiting`, an idle one with a queue is `queued`. */
export async function statesOf(
  store: Store,
  sessions: readonly Session[],
): Promise<ReadonlyMap<string, string>> {
  const failures = await failuresOf(store, sessions);
  const states = new Map(sessions.map((each) => [each.id, shownState(each, failures)]));
  const cut = [...states].flatMap(([id, state]) => (state === "interrupted" ? [id] : []));
  for (const batch of batches(cut)) {
    for (const [id, { state }] of await store.read((tx) => readCurrent(tx, batch), null)) {
      if (state === "waiting") {
        states.set(id, state);
      }
    }
  }
  const idle = [...states].flatMap(([id, state]) => (state === "idle" ? [id] : []));
  for (const ids of batches(idle)) {
    for (const id of await store.read(readQueued, { ids })) {
      states.set(id, "queued");
    }
  }
  return states;
}
