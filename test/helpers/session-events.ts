import type { SessionEvent } from "../../src/core/schemas/session-events.ts";
import { openEvents as openWire, type WireEvents } from "./wire-events.ts";

/** The events of all sessions as they come over the wire, read without the client library. */
export interface WireSessionEvents extends Pick<WireEvents, "status" | "ended" | "cut"> {
  /** The events received so far, checked to be of exactly the documented form. */
  events(): readonly SessionEvent[];
  /** Resolves with the events once one of them is so. */
  until(isWanted: (event: SessionEvent) => boolean): Promise<readonly SessionEvent[]>;
  /** Reads nothing more. */
  pause(): void;
}

export async function openEvents(
  url: string,
  {
    lastId,
    query = "",
    token,
  }: { readonly lastId?: string; readonly query?: string; readonly token?: string } = {},
): Promise<WireSessionEvents> {
  const { status, response, events, until, ended, cut } = await openWire(
    new URL(`/api/events${query}`, url),
    {
      ...(lastId === undefined ? {} : { "last-event-id": lastId }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  );
  const known: SessionEvent[] = [];
  const read = (): readonly SessionEvent[] => {
    for (const { data, ...event } of events().slice(known.length)) {
      if (!/^[0-9a-f]{8}-\d+$/.test(event.id)) {
        throw new Error("the id of an event is not of the documented form");
      }
      known.push({ ...event, data: JSON.parse(data) } as SessionEvent);
    }
    return known;
  };
  return {
    status,
    ended,
    cut,
    events: read,
    until: async (isWanted) => {
      let checked = 0;
      await until(() => {
        const fresh = read().slice(checked);
        checked = known.length;
        return fresh.some(isWanted);
      });
      return known;
    },
    pause: () => {
      response.pause();
    },
  };
}
