import type http from "node:http";

import type { MessageInfo } from "../../src/core/schemas/schemas.ts";
import { openEvents, type WireEvent, type WireEvents } from "./wire-events.ts";

/** A stream as it comes over the wire, read without the client library. */
export interface WireStream extends Omit<WireEvents, "events" | "until"> {
  readonly headers: http.IncomingHttpHeaders;
  /** The events received so far, checked to be of exactly the documented form. */
  messages(): MessageInfo[];
  /** Resolves once so many messages are there. */
  received(count: number): Promise<MessageInfo[]>;
}

export async function openStream(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireStream> {
  const { events, until, ...wire } = await openEvents(new URL(path, url), headers);
  const messages = (): MessageInfo[] => events().map(messageOf);
  return {
    ...wire,
    headers: wire.response.headers,
    messages,
    received: async (count) => {
      await until(() => events().length >= count);
      return messages();
    },
  };
}

function messageOf({ id, event, data }: WireEvent): MessageInfo {
  const message = JSON.parse(data) as MessageInfo;
  if (event !== "message" || String(message.seq) !== id) {
    throw new Error("an event is not the message that its id names");
  }
  return message;
}
