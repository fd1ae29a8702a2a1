import { once } from "node:events";

import { expect, it } from "vitest";

import { createClient } from "../../src/entries/client.ts";
import { answerInTime } from "../../web/answer-in-time.ts";
import { startTcpServer } from "../helpers/tcp-server.ts";

it("[PAGE-43] closes a connection over which no answer comes, and lets who asked end one whose answer has begun", async () => {
  const { promise: closed, resolve: close } = Promise.withResolvers<unknown>();
  let count = 0;
  await using server = await startTcpServer((socket) => {
    count += 1;
    socket.resume();
    if (count === 1) {
      close(once(socket, "close"));
    } else {
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[",
      );
    }
  });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const client = createClient({ baseUrl, fetch: answerInTime(fetch, 20) });
  await expect(client.listModels()).rejects.toMatchObject({ code: "unreachable", status: 0 });
  await closed;
  const ended = new AbortController();
  const answer = await answerInTime(fetch)(baseUrl, { signal: ended.signal });
  ended.abort();
  await expect(answer.json()).rejects.toThrow("abort");
});
