import type { LiveEvent } from "../../src/entries/client.ts";
import { client } from "../api.ts";
import { foldSession, resumedState, type SessionState, snapshotOf } from "./session-state.ts";

/** What happens in a session now. A snapshot has the whole text, and replaces all that was known. */
export function followFeed(id: string, listener: (event: LiveEvent) => void): () => void {
  const controller = new AbortController();
  const read = async (): Promise<void> => {
    let state: SessionState | null = null;
    for await (const event of client.live(id, { signal: controller.signal })) {
      state = event.event === "snapshot" ? resumedState(state, event) : foldSession(state, event);
      listener(event.event === "snapshot" && state !== null ? snapshotOf(state) : event);
    }
  };
  read().catch(() => undefined);
  return () => controller.abort();
}
