import { once } from "node:events";
import http from "node:http";

import type { LiveEvent } from "../../src/core/live.ts";
import { readPosition } from "../../src/core/live-position.ts";

/** A live feed as it comes over the wire, read without the client library. */
export interface WireLive {
  readonly status: number;
  /** The events received so far, checked to be of exactly the documented form. */
  events(): LiveEvent[];
  /** Resolves with the events once one of them is so. */
  until(isWanted: (event: LiveEvent) => boolean): Promise<LiveEvent[]>;
  /** Resolves when the server closed the stream; returns whether the answer was whole. */
  readonly ended: Promise<boolean>;
  cut(): void;
}

export async function openLive(
  url: string,
  id: string,
  { lastId, query = "" }: { readonly lastId?: string; readonly query?: string } = {},
): Promise<WireLive> {
  const request = http.get(new URL(`/api/sessions/${id}/live${query}`, url), {
    agent: false,
    headers: lastId === undefined ? {} : { "last-event-id": lastId },
  });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  request.on("error", () => undefined);
  let text = "";
  const arrived = new EventTarget();
  response.setEncoding("utf8");
  response.on("data", (piece: string) => {
    text += piece;
    arrived.dispatchEvent(new Event("piece"));
  });
  response.on("error", () => undefined);
  const ended = new Promise<boolean>((resolve) => {
    response.once("close", () => resolve(response.complete));
  });
  const events = (): LiveEvent[] => readLiveEvents(text);
  return {
    status: response.statusCode ?? 0,
    events,
    until: async (isWanted) => {
      while (!events().some(isWanted)) {
        await Promise.race([once(arrived, "piece"), ended]);
        if (response.closed && !events().some(isWanted)) {
          throw new Error(`the feed closed after ${events().length} events`);
        }
      }
      return events();
    },
    ended,
    cut: () => request.destroy(),
  };
}

/** The whole events of a text. */
function readLiveEvents(text: string): LiveEvent[] {
  const whole = text.split("\n\n").slice(0, -1);
  return whole
    .filter((block) => block !== ":")
    .map((block) => {
      const [, id = "", event, data = ""] =
        /^id: (\S+)\nevent: ([a-z_]+)\ndata: ([^\r\n]+)$/.exec(block) ?? [];
      if (readPosition(id) === null) {
        throw new Error("an event is not of the documented form");
      }
      return { id, event, data: JSON.parse(data) } as LiveEvent;
    });
}
