import type { SessionEvent } from "../../src/entries/client.ts";
import { client } from "../api.ts";

/** Follows what changes in all sessions. */
export function followList(listener: (event: SessionEvent) => void): () => void {
  const ended = new AbortController();
  void read(listener, ended.signal);
  return () => ended.abort();
}

async function read(listener: (event: SessionEvent) => void, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of client.events({ include: "exchange,labels", signal })) {
      listener(event);
    }
  } catch {
    // ended, or refused
  }
}
