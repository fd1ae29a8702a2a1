import { EventSource } from "eventsource";
import { describe, expect, it } from "vitest";

import type { MessageInfo } from "../../src/core/schemas/schemas.ts";
import { type RunningServer, startServer } from "../../src/http/serve.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { freePort } from "../helpers/free-port.ts";
import { startTestServer } from "../helpers/server.ts";

describe("EventSource", () => {
  it("[HTTP-36] follows a session through restarts on the same port, each message once, then stops", async () => {
    const port = await freePort();
    await using t = await startTestServer({ port });
    const id = await t.newSession();
    const post = (content: string) => t.store.write(appendUserMessage, { reference: id, content });
    const source = new EventSource(`${t.url}/api/sessions/${id}/stream?last_seq=0`);
    const seqs: number[] = [];
    const ids: string[] = [];
    source.addEventListener("message", ({ data, lastEventId }) => {
      seqs.push((JSON.parse(data) as MessageInfo).seq);
      ids.push(lastEventId);
    });
    const received = async (count: number): Promise<void> => {
      while (seqs.length < count) {
        await pause();
      }
    };
    await post("before any restart");
    await received(1);
    let server: RunningServer = t.server;
    for (let restart = 1; restart <= 2; restart += 1) {
      await post("on the way while it shuts down");
      await server.close();
      await post("while nobody serves");
      server = await startServer({ store: t.store, version: "1", host: "127.0.0.1", port });
      await received(restart * 3);
      await post("live again");
      await received(restart * 3 + 1);
    }
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(ids).toEqual(seqs.map(String));
    await fetch(`${t.url}/api/sessions/${id}/end`, { method: "POST" });
    // the stream ends, the source asks again, and 204 makes it stop
    while (source.readyState !== EventSource.CLOSED) {
      await pause();
    }
    expect(seqs).toHaveLength(7);
    source.close();
    await server.close();
  });
});

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 10);
  });
}
