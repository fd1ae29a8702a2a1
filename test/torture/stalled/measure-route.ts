import { setTimeout as sleep } from "node:timers/promises";

import { residentBytes, startService } from "../service.ts";
import { type Latencies, measureOthers } from "./latency.ts";
import type { RequestOf } from "./routes.ts";
import { openUnread } from "./unread.ts";

export interface RouteOptions {
  readonly database: string;
  readonly home: string;
  readonly tokenFile: string;
  readonly token: string;
  readonly session: string;
  readonly connections: number;
  /** For how long they are there, in milliseconds. */
  readonly busyMs: number;
  readonly requestOf: RequestOf;
}

/** What clients that read nothing cost a service. */
export interface RouteFigures {
  /** Resident bytes that it held more than before, at most and at the end; null if the system does not report them. */
  readonly mostBytes: number | null;
  readonly endBytes: number | null;
  /** Connections that it ended. */
  readonly ended: number;
  readonly quiet: Latencies;
  readonly busy: Latencies;
}

const WARM_MS = 1500;
const QUIET_MS = 5000;
const SAMPLE_MS = 20;

/** Measures a fresh service, first quiet and then with connections that read nothing. */
export async function measureRoute(options: RouteOptions): Promise<RouteFigures> {
  const { database, home, tokenFile, token, session, connections, requestOf } = options;
  await using service = await startService({ database, home, args: ["--token-file", tokenFile] });
  const { url, pid } = service;
  const others = { url, token, session };
  await measureOthers(others, WARM_MS);
  const quiet = await measureOthers(others, QUIET_MS);
  const before = residentBytes(pid);
  using unread = openUnread(url, { count: connections, token, requestOf });
  const watching = new AbortController();
  const most = watchMost(pid, watching.signal);
  const busy = await measureOthers(others, options.busyMs);
  watching.abort();
  const more = (bytes: number | null): number | null =>
    bytes === null || before === null ? null : bytes - before;
  const endBytes = more(residentBytes(pid));
  return { mostBytes: more(await most), endBytes, ended: unread.ended, quiet, busy };
}

async function watchMost(pid: number, signal: AbortSignal): Promise<number | null> {
  let most = residentBytes(pid);
  while (!signal.aborted) {
    const now = residentBytes(pid);
    most = most === null || now === null ? null : Math.max(most, now);
    await sleep(SAMPLE_MS);
  }
  return most;
}
