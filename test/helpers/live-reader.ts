import type { LiveEvent } from "../../src/core/schemas/live.ts";
import { readPosition } from "../../src/core/live/live-position.ts";
import { openEvents, type WireEvent } from "./wire-events.ts";

/** A live feed as it comes over the wire, read without the client library. */
export interface WireLive {
  readonly status: number;
  /** The events received so far, checked to be of exactly the documented form. */
  events(): LiveEvent[];
  /** Resolves with the first event that is so. */
  first(isWanted: (event: LiveEvent) => boolean): Promise<LiveEvent>;
  /** Resolves with the events once one of them is so. */
  until(isWanted: (event: LiveEvent) => boolean): Promise<LiveEvent[]>;
  /** Resolves when the server closed the stream; returns whether the answer was whole. */
  readonly ended: Promise<boolean>;
  cut(): void;
}

interface LiveReaderOptions {
  readonly lastId?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openLive(
  url: string,
  id: string,
  { lastId, query = "", headers = {} }: LiveReaderOptions = {},
): Promise<WireLive> {
  const wire = await openEvents(new URL(`/api/sessions/${id}/live${query}`, url), {
    ...headers,
    ...(lastId === undefined ? {} : { "last-event-id": lastId }),
  });
  const known: LiveEvent[] = [];
  const events = (): LiveEvent[] => {
    known.push(...wire.events().slice(known.length).map(liveEventOf));
    return [...known];
  };
  const first = async (isWanted: (event: LiveEvent) => boolean): Promise<LiveEvent> => {
    const found = () => events().find(isWanted);
    await wire.until(() => found() !== undefined);
    return found()!;
  };
  return {
    status: wire.status,
    events,
    first,
    until: async (isWanted) => {
      await first(isWanted);
      return events();
    },
    ended: wire.ended,
    cut: wire.cut,
  };
}

function liveEventOf({ id, event, data }: WireEvent): LiveEvent {
  if (readPosition(id) === null) {
    throw new Error("an event has no position");
  }
  return { id, event, data: JSON.parse(data) } as LiveEvent;
}
