import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { followAll } from "./follow.ts";
import { ask, postRequest } from "./load.ts";
import { type Measurement, median, percentile } from "./measurement.ts";
import {
  makeDatabase,
  type Service,
  startProgram,
  startReprise,
  temporaryFolder,
} from "./services.ts";

const STREAMS = 1000;
/** Ten streams follow each session, so each message is delivered ten times. */
const SESSIONS = 100;
const APPENDS_PER_SECOND = 100;
const ROUNDS = 4;
const ROUND_SECONDS = 3;
/** Files here are in memory (Linux); elsewhere the disk counts. */
const MEMORY_FOLDER = "/dev/shm";

/**
 * From the moment an append is sent until a stream has it, held against a fan-out in memory. The
 * database is in memory too: what the disk takes is what `append-latency` measures. The same with
 * the database on the disk is there for scale.
 */
export async function measureDelivery(scale: number): Promise<Measurement[]> {
  using folder = temporaryFolder();
  using memory = temporaryFolder(existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : undefined);
  await using inMemory = await startReprise(await makeDatabase(`${memory.path}/ours.db`));
  await using onDisk = await startReprise(await makeDatabase(`${folder.path}/ours.db`));
  await using fanOut = await startProgram("fan-out.ts");
  using toMemory = await openStreams(inMemory, scale);
  using toDisk = await openStreams(onDisk, scale);
  using toFanOut = await openStreams(fanOut, scale);
  const contenders = [toMemory, toDisk, toFanOut];
  const results = new Map<Followed, number[][]>(contenders.map((followed) => [followed, []]));
  const rounds = Math.max(1, Math.round(ROUNDS * scale));
  for (let round = -1; round < rounds; round += 1) {
    for (const followed of contenders) {
      const delays = await appendSteadily(followed, ROUND_SECONDS * scale);
      if (round >= 0) {
        results.get(followed)!.push(delays);
      }
    }
  }
  const delay = (followed: Followed, part: number): number =>
    median(results.get(followed)!.map((delays) => percentile(delays, part)));
  const line = (followed: Followed, where: string, part: number): Measurement => ({
    what: `${Math.round(STREAMS * scale)} streams, ${APPENDS_PER_SECOND} appends/s${where}: append to delivery, p${part * 100}`,
    unit: "ms",
    ours: delay(followed, part),
    floor: delay(toFanOut, part),
    reach: followed === toMemory && part === 0.99 ? { at_most: 2 } : null,
  });
  return [
    line(toMemory, "", 0.5),
    line(toMemory, "", 0.99),
    line(toDisk, " on disk", 0.5),
    line(toDisk, " on disk", 0.99),
  ];
}

interface Followed extends Disposable {
  readonly port: number;
  readonly ids: readonly string[];
  /** Milliseconds of each delivery since the array was last emptied. */
  readonly delays: number[];
}

async function openStreams({ port }: Service, scale: number): Promise<Followed> {
  const ids: string[] = [];
  while (ids.length < Math.max(1, SESSIONS * scale)) {
    ids.push(JSON.parse(await ask(port, postRequest(port, "/api/sessions", {}))).id);
  }
  const delays: number[] = [];
  const onChunk = (chunk: Buffer): void => {
    const now = performance.now();
    for (const [, sent] of chunk.toString("latin1").matchAll(/"content":"sent ([\d.]+)"/g)) {
      delays.push(now - Number(sent));
    }
  };
  const streams = await followAll({ port, ids, count: STREAMS * scale, onChunk });
  return { port, ids, delays, [Symbol.dispose]: () => streams[Symbol.dispose]() };
}

/** Appends on a beat, whether the last one was answered or not; the content says when it was sent. */
async function appendSteadily({ port, ids, delays }: Followed, seconds: number): Promise<number[]> {
  delays.length = 0;
  const begun = performance.now();
  const asked: Promise<string>[] = [];
  for (let index = 0; index < seconds * APPENDS_PER_SECOND; index += 1) {
    await sleep(Math.max(0, begun + (index * 1000) / APPENDS_PER_SECOND - performance.now()));
    const path = `/api/sessions/${ids[index % ids.length]!}/messages`;
    asked.push(ask(port, postRequest(port, path, { content: `sent ${performance.now()}` })));
  }
  await Promise.all(asked);
  await sleep(100);
  return [...delays];
}
