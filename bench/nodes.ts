import { setTimeout as sleep } from "node:timers/promises";

import { type Client, createClient } from "../src/client/client.ts";
import { type Bench, type Measurement, median, percentile } from "./measurement.ts";
import { startPostgres } from "./postgres.ts";
import { startReprise } from "./services.ts";

const SESSIONS = 10;
const MESSAGES = 400;
/** Between two messages, on average: none meets the polls of the other node always at the same phase. */
const PAUSE_MS = 40;

/** From the moment a message is sent to one node until a stream of the other one has it. */
export const bench: Bench = {
  about: "delivery between two services on one PostgreSQL, from the POST to the other's stream",
  run: async ({ scale }) => {
    await using postgres = await startPostgres();
    const lines: Measurement[] = [];
    for (const { hints, reach } of [
      { hints: "off", reach: 600 },
      { hints: "on", reach: 100 },
    ]) {
      const url = `${await postgres.makeDatabase(`hints_${hints}`)}?hints=${hints}`;
      await using one = await startReprise(url);
      await using other = await startReprise(url);
      const [from, to] = [one, other].map(({ port }) =>
        createClient({ baseUrl: `http://127.0.0.1:${port}` }),
      ) as [Client, Client];
      const took = await deliver({ from, to, messages: Math.ceil(MESSAGES * scale) });
      const line = { unit: "ms", floor: null };
      lines.push(
        {
          ...line,
          what: `hints ${hints}, p99 of ${took.length}`,
          ours: percentile(took, 0.99),
          reach: { at_most: reach },
        },
        { ...line, what: `hints ${hints}, median`, ours: median(took), reach: null },
      );
    }
    return lines;
  },
};

interface Delivery {
  readonly from: Client;
  readonly to: Client;
  readonly messages: number;
}

/** Milliseconds of each message. Throws if one is missing, doubled or out of order. */
async function deliver({ from, to, messages }: Delivery): Promise<number[]> {
  const ids = await Promise.all(
    Array.from({ length: SESSIONS }, async () => (await from.createSession()).id),
  );
  const sent = new Map<string, number>();
  const took: number[] = [];
  const reading = ids.map(async (id) => {
    let last = 0;
    for await (const { seq, content } of to.followSession(id)) {
      took.push(performance.now() - (sent.get(content) ?? Number.NaN));
      if (seq !== last + 1) {
        throw new Error(`message ${seq} came after ${last}`);
      }
      last = seq;
    }
    return last;
  });
  // a message of before, so that each stream is open
  await Promise.all(ids.map((id) => from.postMessage(id, "first")));
  while (took.length < SESSIONS) {
    await sleep(20);
  }
  took.length = 0;
  const posts: Promise<unknown>[] = [];
  for (let index = 0; index < messages; index += 1) {
    const content = `message ${index}`;
    sent.set(content, performance.now());
    posts.push(from.postMessage(ids[index % SESSIONS]!, content));
    await sleep(Math.random() * 2 * PAUSE_MS);
  }
  await Promise.all(posts);
  await Promise.all(ids.map((id) => from.endSession(id)));
  const read = (await Promise.all(reading)).reduce((sum, last) => sum + last, 0);
  if (read !== messages + SESSIONS) {
    throw new Error(`${read} messages came`);
  }
  return took;
}
