import { setImmediate } from "node:timers/promises";

import {
  type LiveSnapshot,
  readLive,
  type ReadLive,
} from "../../src/store/records/live/read-live.ts";
import type { Store } from "../../src/store/store.ts";

/** What a reader is shown of a session that has the messages up to `after_seq`, the first one if it is not given. */
export function liveOf(
  store: Store,
  session_id: string,
  more: Partial<ReadLive> = {},
): Promise<LiveSnapshot> {
  const page = { after_seq: 1, all: false, max_rows: 100, max_bytes: 1_000_000 };
  return store.read(readLive, { session_id, ...page, ...more });
}

/** The same once it is so. */
export async function liveOnce(
  store: Store,
  session_id: string,
  isThere: (found: LiveSnapshot) => boolean,
): Promise<LiveSnapshot> {
  for (;;) {
    const found = await liveOf(store, session_id);
    if (isThere(found)) {
      return found;
    }
    await setImmediate();
  }
}

/** All text in flight that is stored, of all sessions. */
export function storedPieces(store: Store) {
  return store.read(
    ({ db }) =>
      db.selectFrom("answer_pieces").select(["position", "text"]).orderBy("position").execute(),
    null,
  );
}
