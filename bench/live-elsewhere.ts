import { setTimeout as sleep } from "node:timers/promises";

import { openPostgresStore } from "../src/store/engines/postgres/open.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { takeLease } from "../src/store/records/leases/lease.ts";
import { thisProcess } from "../src/store/records/leases/this-process.ts";
import { storeLive } from "../src/store/records/live/store-live.ts";
import { beginExchange } from "../src/store/records/messages/begin-exchange.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import type { Store } from "../src/store/store.ts";
import { follow } from "./follow.ts";
import { type Measurement, percentile } from "./measurement.ts";
import { startPostgres } from "./postgres.ts";
import { makeDatabase, startReprise, temporaryFolder } from "./services.ts";

const PIECES = 200;
/** Code points of a piece. */
const LENGTH = 10;
/** More than a poll, and never in step with it. */
const PAUSE_MS = { least: 70, most: 270 };

/** From the commit of a piece of text until a reader of another process has it. */
export async function measureElsewhere(scale: number): Promise<Measurement[]> {
  using folder = temporaryFolder();
  const path = await makeDatabase(`${folder.path}/live.db`);
  await using sqlite = await openSqliteStore({ path });
  const onSqlite = await delaysTo(path, sqlite, scale);
  await using postgres = await startPostgres();
  const url = await postgres.makeDatabase("live");
  await using store = await openPostgresStore({ url });
  const onPostgres = await delaysTo(url, store, scale);
  return [
    // a poll every 60 ms, and what it takes
    ...linesOf("SQLite, a second process", onSqlite, 70),
    ...linesOf("PostgreSQL with hints", onPostgres, 60),
  ];
}

function linesOf(where: string, delays: readonly number[], at_most: number): Measurement[] {
  return [0.5, 0.99].map((part) => ({
    what: `${where}: from a piece's commit to a reader on another node, p${part * 100}`,
    unit: "ms",
    ours: percentile(delays, part),
    floor: null,
    reach: part === 0.99 ? { at_most } : null,
  }));
}

async function delaysTo(database: string, store: Store, scale: number): Promise<number[]> {
  await using reader = await startReprise(database);
  const { id } = await store.write(createSession, {});
  const owner = thisProcess("bench");
  const { epoch } = await store.write(takeLease, { session_id: id, owner, life_ms: 3_600_000 });
  const fence = { session_id: id, epoch };
  const exchange = { content: "Hello", model: "demo:echo", persona_name: null };
  await store.write(beginExchange, { fence, ...exchange });
  const committed: number[] = [];
  const received: number[] = [];
  let left = "";
  const socket = await follow({ port: reader.port, id, stream: "live" }, (chunk) => {
    left += chunk.toString("latin1");
    const end = left.lastIndexOf("\n\n");
    for (const [, offset, text = ""] of left
      .slice(0, Math.max(0, end))
      .matchAll(/"offset":(\d+),"text":"(\w+)"/g)) {
      for (let at = 0; at < text.length; at += LENGTH) {
        received[(Number(offset) + at) / LENGTH] ??= performance.now();
      }
    }
    left = left.slice(end < 0 ? 0 : end);
  });
  const count = Math.max(10, Math.round(PIECES * scale));
  const state = {
    revision: 1,
    message_id: "answer",
    value: JSON.stringify({
      calls: [],
      usage: { input_tokens: 0, output_tokens: 0 },
      retry: null,
    }),
  };
  for (let index = 0; index < count; index += 1) {
    const text = String(index).padStart(LENGTH, "0");
    const piece = { message_id: "answer", position: index * LENGTH, text };
    await store.write(storeLive, {
      writes: [{ ...fence, n: 1, piece, state: index === 0 ? state : null }],
    });
    committed.push(performance.now());
    await sleep(PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least));
  }
  while (received.filter((at) => at !== undefined).length < count) {
    await sleep(10);
  }
  socket.destroy();
  return committed.map((at, index) => Math.max(0, (received[index] ?? 0) - at));
}
