import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { createClient } from "../../src/client/client.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import type { TortureOptions } from "./long-tests.ts";
import { startService, tortureFolder } from "./service.ts";

/** The longest that another request may take while a backlog is streamed. */
const LONGEST_MS = 100;

/** Streams a backlog to another process and measures how long other requests take meanwhile. */
export async function run({ size = 100_000 }: TortureOptions): Promise<void> {
  using folder = tortureFolder();
  const database = join(folder.path, "reprise.db");
  await using service = await startService({ database });
  const client = createClient({ baseUrl: service.url });
  const { id } = await client.createSession();
  await appendBacklog({ database, id, count: size });
  await client.endSession(id);
  const idle = await measure(service.url, pause(1000));
  const begun = performance.now();
  const program = fileURLToPath(new URL("../fixtures/programs/read-stream.ts", import.meta.url));
  const reader = spawn(process.execPath, [program, `${service.url}/api/sessions/${id}/stream`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const printed = text(reader.stdout);
  const streaming = await measure(service.url, once(reader, "close"));
  const seconds = (performance.now() - begun) / 1000;
  const [bytes = 0, whole] = (await printed).trim().split(" ");
  assert.equal(whole, "true");
  console.log(
    `backlog: ${size} messages, ${(Number(bytes) / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s; other requests ${textOf(streaming)}, without it ${textOf(idle)}`,
  );
  assert.ok(streaming.longest <= LONGEST_MS, `another request took ${streaming.longest} ms`);
}

async function appendBacklog(input: {
  readonly database: string;
  readonly id: string;
  readonly count: number;
}): Promise<void> {
  await using store = await openSqliteStore({ path: input.database });
  for (let done = 0; done < input.count;) {
    const group = Math.min(500, input.count - done);
    const content = `some words of message ${done}`.repeat(8);
    await Promise.all(
      Array.from({ length: group }, () =>
        store.write(appendUserMessage, { reference: input.id, content }),
      ),
    );
    done += group;
  }
}

interface Latencies {
  readonly requests: number;
  readonly median: number;
  readonly longest: number;
}

/** Asks for the list, one request after another, until the promise settles. */
async function measure(url: string, done: Promise<unknown>): Promise<Latencies> {
  let finished = false;
  const stop = done.then(() => {
    finished = true;
  });
  const times: number[] = [];
  while (!finished) {
    const begun = performance.now();
    await (await fetch(`${url}/api/sessions?limit=1`)).text();
    times.push(performance.now() - begun);
    await pause(2);
  }
  await stop;
  times.sort((one, other) => one - other);
  return {
    requests: times.length,
    median: times[Math.floor(times.length / 2)] ?? 0,
    longest: times.at(-1) ?? 0,
  };
}

function textOf({ requests, median, longest }: Latencies): string {
  return `${requests}: median ${median.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
