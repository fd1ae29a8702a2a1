import { randomUUID } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { isProcessGone } from "../../store/records/leases/this-process.ts";

/** A name beside a file that is about to be replaced. It holds the process, so that what one leaves that is killed can be removed. */
export function temporaryName(): string {
  return `.reprise-${process.pid}-${randomUUID()}.tmp`;
}

const TEMPORARY = /^\.reprise-(\d+)-[0-9a-f-]{36}\.tmp$/;

/** Removes temporary files of processes that are gone. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (isLeftover(name)) {
      await rm(join(folder, name), { force: true });
    }
  }
}

/** True for a temporary file of a process that is gone. */
export function isLeftover(name: string): boolean {
  const pid = Number(TEMPORARY.exec(name)?.[1] ?? 0);
  return pid > 0 && isProcessGone(pid);
}
