import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { createClient } from "../src/client/client.ts";
import { followAll } from "./follow.ts";
import { measureElsewhere } from "./live-elsewhere.ts";
import { type Bench, type Measurement, median, percentile } from "./measurement.ts";
import { type Service, startProgram, temporaryFolder } from "./services.ts";

const READERS = 1000;
const ROUNDS = 4;
const ROUND_SECONDS = 3;
const MEMORY_FOLDER = "/dev/shm";

/** The live feed: from the moment a token is made until a reader has it, beside a fan-out in memory. */
export const bench: Bench = {
  about: "the live feed: tokens to many readers of one session, and to one each of many sessions",
  run: async ({ scale }) => [
    ...(await measure({ sessions: 1, tokens: 10, scale })),
    ...(await measure({ sessions: READERS, tokens: 500, scale })),
    ...(await measureElsewhere(scale)),
  ],
};

interface Course {
  readonly sessions: number;
  /** A second, of all sessions together. */
  readonly tokens: number;
  readonly scale: number;
}

async function measure({ sessions, tokens, scale }: Course): Promise<Measurement[]> {
  using folder = temporaryFolder(existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : undefined);
  const database = `${folder.path}/live.db`;
  const count = String(Math.max(1, Math.round(sessions === 1 ? 1 : sessions * scale)));
  const beat = ["--sessions", count, "--tokens", String(tokens)];
  await using ours = await startProgram("live-tokens.ts", ["--database", database, ...beat]);
  await using other = await startProgram("live-tokens.ts", ["--database", database]);
  await using floor = await startProgram("live-tokens.ts", ["--floor", ...beat]);
  const ids = await idsOf(ours);
  const numbers = ids.map((_, index) => String(index));
  using toOurs = await openReaders(ours, ids, scale);
  using toFloor = await openReaders(floor, numbers, scale);
  using toOther = await openReaders(other, ids, scale / 10);
  const readers = [toOurs, toFloor, toOther];
  await sleep(1000);
  const rounds: number[][][] = readers.map(() => []);
  for (let round = 0; round < Math.max(1, ROUNDS * scale); round += 1) {
    for (const [index, { delays }] of readers.entries()) {
      delays.length = 0;
      await sleep(ROUND_SECONDS * 1000 * scale);
      rounds[index]?.push([...delays]);
    }
  }
  const at = (index: number, part: number): number =>
    median((rounds[index] ?? []).map((delays) => percentile(delays, part)));
  const what = `${Math.round(READERS * scale)} readers of ${count} sessions, ${tokens} tokens/s`;
  const line = (part: number): Measurement => ({
    what: `${what}: token to reader, p${part * 100}`,
    unit: "ms",
    ours: at(0, part),
    floor: at(1, part),
    reach: part === 0.99 ? { at_most: 2 } : null,
  });
  const far: Measurement = {
    what: `${what}: to a tenth of the readers on another node, p99`,
    unit: "ms",
    ours: at(2, 0.99),
    floor: null,
    reach: null,
  };
  return [line(0.5), line(0.99), far];
}

async function idsOf({ port }: Service): Promise<string[]> {
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}` });
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listSessions({
      limit: 200,
      order: "created",
      ...(cursor === undefined ? {} : { cursor }),
    });
    ids.push(...page.sessions.map(({ id }) => id));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return ids;
}

async function openReaders({ port }: Service, ids: readonly string[], part: number) {
  const delays: number[] = [];
  const onChunk = (chunk: Buffer): void => {
    const now = performance.timeOrigin + performance.now();
    for (const [, sent] of chunk.toString("latin1").matchAll(/sent ([\d.]+) /g)) {
      delays.push(now - Number(sent));
    }
  };
  const count = Math.max(1, READERS * part);
  const streams = await followAll({ port, ids, count, onChunk, stream: "live" });
  return { delays, [Symbol.dispose]: () => streams[Symbol.dispose]() };
}
