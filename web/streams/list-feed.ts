import type { SessionEvent } from "../../src/entries/client.ts";
import type { Feed } from "./feed.ts";
import { type Connect, once } from "./session-feed.ts";

/** What a tab knows of the list: the position after the last event; empty if it has none. */
export interface ListState {
  readonly id: string;
}

/** The events of all sessions. After `reset`, a reader reads the list again. */
export function listFeed(
  connect: Connect<"events" | "listSessions">,
): Feed<ListState, SessionEvent> {
  const client = connect(() => undefined);
  const reset = (id: string): SessionEvent => ({ id, event: "reset", data: {} });
  return {
    read: (state, { signal, onOpen }) => {
      const from = state();
      const position = from === null || from.id === "" ? {} : { after: from.id };
      return once(signal, (options) => connect(onOpen).events({ ...position, ...options }));
    },
    poll: async () => {
      await client.listSessions({ limit: 1 });
      return [reset("")];
    },
    check: async () => {
      await client.listSessions({ limit: 1 });
      return () => [];
    },
    needsCheck: () => false,
    fold: (_state, { id }) => ({ id }),
    begin: ({ id }) => reset(id),
    // positions cannot be compared: who has the same one missed nothing
    arrive: (mine, event) =>
      event.event === "reset" && event.id !== "" && event.id === mine?.id ? [] : [event],
  };
}
