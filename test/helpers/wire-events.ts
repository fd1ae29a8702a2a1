import { once } from "node:events";
import http from "node:http";

/** One server-sent event as it came. */
export interface WireEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** An event stream as it comes over the wire, read without the client library. */
export interface WireEvents {
  readonly status: number;
  readonly response: http.IncomingMessage;
  /** Everything received so far. */
  text(): string;
  /** The whole events received so far; throws for one that is not of exactly the documented form. */
  events(): readonly WireEvent[];
  /** Resolves once it is so; rejects if the stream closes before. */
  until(isSo: () => boolean): Promise<void>;
  /** Resolves when the server closed the stream; returns whether the answer was whole. */
  readonly ended: Promise<boolean>;
  /** Goes away in the middle, as a browser does. */
  cut(): void;
}

export async function openEvents(
  url: URL,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireEvents> {
  const request = http.get(url, { agent: false, headers: { ...headers } });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  request.on("error", () => undefined);
  const pieces: string[] = [];
  /** What is not an event yet: all of the text would be copied for each piece. */
  let rest = "";
  const known: WireEvent[] = [];
  const arrived = new EventTarget();
  response.setEncoding("utf8");
  response.on("data", (piece: string) => {
    pieces.push(piece);
    rest += piece;
    arrived.dispatchEvent(new Event("piece"));
  });
  response.on("error", () => undefined);
  const ended = new Promise<boolean>((resolve) => {
    response.once("close", () => resolve(response.complete));
  });
  const events = (): readonly WireEvent[] => {
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block !== ":") {
        known.push(readEvent(block));
      }
    }
    return known;
  };
  return {
    status: response.statusCode ?? 0,
    response,
    text: () => pieces.join(""),
    events,
    until: async (isSo) => {
      while (!isSo()) {
        await Promise.race([once(arrived, "piece"), ended]);
        if (response.closed && !isSo()) {
          throw new Error(`the stream closed after ${events().length} events`);
        }
      }
    },
    ended,
    cut: () => request.destroy(),
  };
}

function readEvent(block: string): WireEvent {
  const [, id, event, data] = /^id: (\S+)\nevent: ([a-z_]+)\ndata: ([^\r\n]+)$/.exec(block) ?? [];
  if (id === undefined || event === undefined || data === undefined) {
    throw new Error("an event is not of the documented form");
  }
  return { id, event, data };
}
