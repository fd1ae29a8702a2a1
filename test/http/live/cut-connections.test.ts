import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import { createFeed } from "../../../src/exchange/live/feed.ts";
import { releaseLease } from "../../../src/store/records/leases/lease.ts";
import { liveOf } from "../../helpers/live.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { startTestServer } from "../../helpers/server.ts";
import { testSize } from "../../helpers/size.ts";
import { createStrictReader } from "../../helpers/strict-live-reader.ts";
import { begin, storeAnswer } from "./running-exchange.ts";
import { someText } from "./live-world.ts";

const CUTS = testSize("feed-cuts");

/** Passes each connection to another node than the last one, and cuts it after some bytes. */
async function startCutter(random: () => number) {
  const nodes: { readonly url: string }[] = [];
  let cuts = 0;
  let isCalm = false;
  const server = net.createServer((client) => {
    const node = net.connect(Number(new URL(nodes[cuts % nodes.length]!.url).port), "127.0.0.1");
    let left = Math.floor(random() * 6000);
    client.pipe(node);
    node.on("data", (bytes: Buffer) => {
      left -= bytes.length;
      if (left > 0 || isCalm) {
        client.write(bytes);
        return;
      }
      cuts += 1;
      client.write(bytes.subarray(0, bytes.length + left), () => client.destroy());
      node.destroy();
    });
    node.on("end", () => client.end());
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    nodes,
    cuts: () => cuts,
    calm: () => {
      isCalm = true;
    },
    [Symbol.dispose]: () => server.close(),
  };
}

it(`[LIVE-24] [LIVE-25] [LIVE-29] ${CUTS} cuts between two nodes change no text`, async () => {
  const seed = seedOf("cut connections");
  const random = randomOf(seed);
  await using t = await startTestServer();
  const feed = createFeed({ store: t.store, storeMs: 3 });
  using cutter = await startCutter(random);
  const allowHosts = [cutter.address];
  await using here = await startTestServer({ store: t.store, live: feed, allowHosts });
  await using elsewhere = await openStoreAt(t.path);
  await using there = await startTestServer({
    store: elsewhere,
    allowHosts,
    stream: { livePollMs: 5, pollMs: 5 },
  });
  cutter.nodes.push(here, there);
  const id = await t.newSession();
  const reader = createStrictReader();
  const seen = { resets: 0, texts: 0 };
  const reading = (async () => {
    const client = createClient({ baseUrl: `http://${cutter.address}` });
    for await (const event of client.live(id, { afterSeq: 0, pauseMs: { first: 1, longest: 5 } })) {
      seen.resets += event.event === "reset" ? 1 : 0;
      seen.texts += event.event === "text" ? 1 : 0;
      reader.take(event);
    }
  })();
  let over = false;
  void reading.catch(() => undefined).then(() => (over = true));

  const identity = { exchange_id: id, session_id: id };
  let ids = 0;
  let content: string | null = "Hello";
  // few cuts may all hit a text that the next connection continues
  while ((cutter.cuts() < CUTS || seen.resets === 0) && !over) {
    const fence = await begin(t.store, id, content);
    const { begun, heard } = feed.open(id);
    const n = (await liveOf(t.store, id)).exchange!.n;
    begun({ n, epoch: fence.epoch });
    const ending = random();
    for (let answer = 0; answer < 3; answer += 1) {
      ids += 1;
      const message_id = `answer ${ids}`;
      let text = "";
      for (let tokens = random() * 60; tokens > 0; tokens -= 1) {
        const piece = someText(random, 8);
        text += piece;
        heard({ type: "text", ...identity, message_id, text: piece });
        await sleep(random() < 0.3 ? 2 : 0);
      }
      const isVoid = random() < 0.2;
      if (isVoid) {
        const retry = { attempt: 2, code: "model_failed", reason: "", delay_ms: 1 } as const;
        heard({ type: "retry", ...identity, message_id, ...retry });
      } else if (text !== "" && !(answer === 2 && ending < 0.5)) {
        await storeAnswer(t.store, fence, message_id, text);
        const stored = { call_id: null, seq: ids, role: "assistant", is_summary: false } as const;
        heard({ type: "message", ...identity, message_id, ...stored });
      }
    }
    // it is done, stopped without what had arrived, or its process is dead and another one continues
    const finished = ending > 0.25;
    await t.store.write(releaseLease, { fence, finished });
    heard({
      type: "stopped",
      ...identity,
      message_id: null,
      last_seq: 0,
      total_input_tokens: 0,
      total_output_tokens: 0,
    });
    content = finished ? someText(random, 10) : null;
  }
  cutter.calm();
  await t.call("POST", `/api/sessions/${id}/end`);
  await reading;
  feed.close();
  expect([...reader.texts]).toEqual([]);
  const { messages } = await liveOf(t.store, id, {
    after_seq: 0,
    max_rows: 100_000,
    max_bytes: 1e9,
  });
  const known = new Map(reader.messages.map((message) => [message.seq, message.content]));
  expect([...known]).toEqual(messages.map((message) => [message.seq, message.content]));
  expect(seen.texts).toBeGreaterThan(CUTS / 10);
  expect(seen.resets).toBeGreaterThan(0);
});
