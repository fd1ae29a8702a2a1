import { once } from "node:events";
import http from "node:http";

import type { MessageInfo } from "../../src/core/schemas.ts";

/** A stream as it comes over the wire, read without the client library. */
export interface WireStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly response: http.IncomingMessage;
  /** Everything received so far. */
  text(): string;
  /** The events received so far, checked to be of exactly the documented form. */
  messages(): MessageInfo[];
  /** Resolves once so many messages are there. */
  received(count: number): Promise<MessageInfo[]>;
  /** Resolves when the server closed the stream; returns whether the answer was whole. */
  readonly ended: Promise<boolean>;
  /** Goes away in the middle, as a browser does. */
  cut(): void;
}

export async function openStream(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireStream> {
  const request = http.get(new URL(path, url), { agent: false, headers: { ...headers } });
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
  const messages = (): MessageInfo[] => readEvents(text);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    response,
    text: () => text,
    messages,
    received: async (count) => {
      while (messages().length < count) {
        await Promise.race([once(arrived, "piece"), ended]);
        if (response.closed && messages().length < count) {
          throw new Error(`the stream closed after ${messages().length} of ${count} messages`);
        }
      }
      return messages();
    },
    ended,
    cut: () => request.destroy(),
  };
}

function readEvents(text: string): MessageInfo[] {
  const whole = text.split("\n\n").slice(0, -1);
  return whole
    .filter((block) => block !== ":")
    .map((block) => {
      const match = /^id: (\d+)\nevent: message\ndata: ([^\r\n]+)$/.exec(block);
      if (match === null) {
        throw new Error("an event is not of the documented form");
      }
      const message = JSON.parse(match[2]!) as MessageInfo;
      if (String(message.seq) !== match[1]) {
        throw new Error("an event's id is not its message's seq");
      }
      return message;
    });
}
