import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { followAll } from "./follow.ts";
import { ask, postRequest } from "./load.ts";
import type { Measurement } from "./measurement.ts";
import { makeDatabase, startReprise, temporaryFolder } from "./services.ts";

const STREAMS = 10_000;
const SESSIONS = 1000;
/** Long enough that every stream sends a heartbeat, which it does every 15 s. */
const WATCHED_SECONDS = 30;
/** The service allocates as it opens streams; this long it has to become quiet. */
const SETTLE_SECONDS = 3;

/** What streams cost on which nothing happens: processor time and memory of the service. */
export async function measureQuiet(scale: number): Promise<Measurement[]> {
  using folder = temporaryFolder();
  await using service = await startReprise(await makeDatabase(`${folder.path}/ours.db`));
  const { port, pid } = service;
  const ids: string[] = [];
  while (ids.length < SESSIONS * scale) {
    ids.push(JSON.parse(await ask(port, postRequest(port, "/api/sessions", {}))).id);
  }
  const count = Math.round(STREAMS * scale);
  const before = residentBytes(pid);
  using _streams = await followAll({ port, ids, count });
  await sleep(SETTLE_SECONDS * 1000 * scale);
  const bytes = (residentBytes(pid) - before) / count;
  const from = processorSeconds(pid);
  const begun = performance.now();
  await sleep(WATCHED_SECONDS * 1000 * scale);
  const part = (processorSeconds(pid) - from) / ((performance.now() - begun) / 1000);
  return [
    {
      what: `${count} quiet streams: processor time`,
      unit: "% of a core",
      ours: part * 100,
      floor: null,
      reach: { at_most: 2 },
    },
    {
      what: `${count} quiet streams: memory of one`,
      unit: "KB",
      ours: bytes / 1000,
      floor: null,
      reach: { at_most: 30 },
    },
  ];
}

/** Linux shows a process's figures in files; its clock has 100 ticks a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentBytes(pid: number): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1];
  return Number(kib) * 1024;
}
