import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { startProcess } from "../../helpers/process.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** It has to be installed, and this user has to be allowed to trace. */
const TRACER = "strace";
const traces = spawnSync(TRACER, ["-o", "/dev/null", "true"]).status === 0;
const PROGRAM = fileURLToPath(
  new URL("../../fixtures/programs/store-acknowledge.ts", import.meta.url),
);
const GROUPS = 40;

it.skipIf(!traces)(
  `[STORE-1] syncs the log after its last write and before each of ${GROUPS} acknowledgements (needs strace)`,
  async () => {
    const folder = temporaryFolder();
    const path = join(folder, "reprise.db");
    const store = await openSqliteStore({ path });
    const { id } = await store.write(createSession, {});
    await store.close();
    const trace = join(folder, "trace");

    const options = ["-f", "-y", "-e", "trace=write,pwrite64,fdatasync,fsync", "-o", trace];
    const program = [process.execPath, PROGRAM, path, id, `${GROUPS}`];
    const { code } = await startProcess(TRACER, [...options, ...program]).finished;

    expect(code).toBe(0);
    const acknowledged = callsOf(trace)
      .join("")
      // written, synced, acknowledged: w, s and a, in the order of the calls
      .split("a")
      .slice(0, -1);
    expect(acknowledged).toHaveLength(GROUPS);
    // an acknowledgement without a sync after the last write would be lost with the power
    expect(acknowledged.filter((calls) => !/ws+$/.test(calls))).toEqual([]);
  },
);

/** The calls that matter: `w` wrote to the log, `s` synced it, `a` acknowledged a group. */
function callsOf(trace: string): string[] {
  return readFileSync(trace, "utf8")
    .split("\n")
    .flatMap((line) => {
      if (/\bpwrite64\(\d+<[^>]*-wal>/.test(line)) {
        return "w";
      }
      if (/\bf(data)?sync\(\d+<[^>]*-wal>\)\s*= 0/.test(line)) {
        return "s";
      }
      return /\bwrite\(1<[^>]*>, "acknowledged/.test(line) ? "a" : [];
    });
}
