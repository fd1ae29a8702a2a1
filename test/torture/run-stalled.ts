import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { TortureOptions } from "./long-tests.ts";
import { startService, tortureFolder } from "./service.ts";
import { stallReaders } from "./stalled-readers.ts";
import { measureHalfSent } from "./stalled/half-sent.ts";
import { measureRoute, type RouteFigures, type RouteOptions } from "./stalled/measure-route.ts";
import { ALL, largeRoutes } from "./stalled/routes.ts";
import { makeWorld } from "./stalled/world.ts";

/** What readers of a stream, and clients of a route, may cost together. */
const MOST_STREAM_BYTES = 200e6;
const MOST_BYTES = 300e6;
/** How many times as long as on a quiet service other requests may take. */
const MOST_TIMES = 3;
/** What somebody waits at most for others' bodies. */
const MOST_BODY_MS = 10_000;
/** With fewer connections, as with `--short`, all routes are measured together, and times are only printed. */
const CONNECTIONS = 200;
const BODIES = 100;
const BUSY_MS = 20_000;
const SHORT_BUSY_MS = 4000;
const TOKEN = "0123456789abcdef0123456789abcdef";

/** Clients that read nothing: what they cost, how long others wait, and that streams resume whole. */
export async function run({ size = CONNECTIONS }: TortureOptions): Promise<void> {
  await runStreams(size);
  await runBodies();
  await runRoutes(size);
}

async function runStreams(readers: number): Promise<void> {
  using folder = tortureFolder();
  const database = join(folder.path, "reprise.db");
  await using service = await startService({ database, args: ["--log"] });
  const { extraBytes } = await stallReaders({ service, readers, messages: 200 });
  console.log(
    `stalled: ${readers} readers took nothing, cost ${megabytes(extraBytes)} MB together, all resumed whole`,
  );
  assert.ok(extraBytes === null || extraBytes < MOST_STREAM_BYTES);
}

async function runBodies(): Promise<void> {
  using folder = tortureFolder();
  const database = join(folder.path, "reprise.db");
  const { times } = await measureHalfSent({ database, home: folder.path, bodies: BODIES });
  const longest = Math.max(...times);
  console.log(
    `stalled: beside ${BODIES} half-sent bodies of 3 MB, messages of 900 KB took ${(longest / 1000).toFixed(1)} s at most`,
  );
  assert.ok(longest < MOST_BODY_MS);
}

async function runRoutes(connections: number): Promise<void> {
  using folder = tortureFolder();
  const database = join(folder.path, "reprise.db");
  const world = await makeWorld(database, folder.path);
  const tokenFile = join(folder.path, "token");
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  const isWhole = connections >= CONNECTIONS;
  console.log(
    `stalled: ${connections} connections that send 20 requests each and read nothing; other requests in ms, before and beside\n${HEADINGS}`,
  );
  const broken: string[] = [];
  for (const [name, requestOf] of Object.entries(largeRoutes(world, largestPageFile()))) {
    if (isWhole || name === ALL) {
      const options: RouteOptions = {
        database,
        home: folder.path,
        tokenFile,
        token: TOKEN,
        session: world.small,
        connections,
        busyMs: isWhole ? BUSY_MS : SHORT_BUSY_MS,
        requestOf,
      };
      const figures = await measureRoute(options);
      console.log(rowOf(name, figures));
      broken.push(...brokenBy(name, figures, isWhole));
    }
  }
  assert.deepEqual(broken, []);
}

/** The 95th percentile is compared with the noise of the quiet service, which is at least its own. */
function brokenBy(
  name: string,
  { mostBytes, quiet, busy }: RouteFigures,
  times: boolean,
): readonly string[] {
  const isTooMuch = mostBytes !== null && mostBytes >= MOST_BYTES;
  const isTooLong =
    times && (busy.median >= MOST_TIMES * quiet.median || busy.p95 >= MOST_TIMES * quiet.noise);
  return [
    ...(isTooMuch ? [`${name} costs too much memory`] : []),
    ...(isTooLong ? [`beside ${name} others wait too long`] : []),
  ];
}

function largestPageFile(): string {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync(process.execPath, [join(root, "build/page.ts")]);
  const folder = join(root, "dist/page/assets");
  const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const sizeOf = (name: string): number => statSync(join(folder, name)).size;
  const [largest = ""] = files.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return `/assets/${largest}`;
}

const COLUMNS = ["MB most", "MB end", "median", "", "p95", "noise", "", "longest", "", "ended"];
const HEADINGS = cells("route", COLUMNS);

function rowOf(name: string, { mostBytes, endBytes, quiet, busy, ended }: RouteFigures): string {
  const ms = [quiet.median, busy.median, quiet.p95, quiet.noise, busy.p95];
  return cells(name, [
    megabytes(mostBytes),
    megabytes(endBytes),
    ...[...ms, quiet.longest, busy.longest].map((each) => each.toFixed(1)),
    String(ended),
  ]);
}

function cells(name: string, values: readonly string[]): string {
  return [name.padEnd(14), ...values.map((value) => value.padStart(8))].join(" ");
}

function megabytes(bytes: number | null): string {
  return bytes === null ? "unknown" : (bytes / 1e6).toFixed(0);
}
