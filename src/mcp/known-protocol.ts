import type { Server } from "./configured-servers.ts";
import { readKept, writeKept } from "./kept-files.ts";

/** The first version of the protocol that is stateless. */
const STATELESS = "2026-07-28";
/** For a program that was silent before, or spoke the older protocol. */
const OLDER_MS = 1500;
/** For one that is not known yet: it may start slowly, or be silent. */
const UNKNOWN_MS = 10_000;

/**
 * Returns the time in ms in which a server says whether it speaks the protocol of 2026-07-28; a program is then taken for an
 * older one, some of which are silent. So one that is known to answer has all of the time: a loaded machine makes it no
 * older. A service over HTTP answers, or cannot be used.
 */
export function probeTime(
  kind: Server["place"]["kind"],
  known: string | null,
  timeoutMs: number,
): number {
  if (kind === "address" || (known !== null && known >= STATELESS)) {
    return timeoutMs;
  }
  return known === null ? Math.min(UNKNOWN_MS, timeoutMs * 0.6) : Math.min(OLDER_MS, timeoutMs);
}

/** Returns the version of the protocol that a server spoke when it was last connected; null if that is not known. */
export async function readProtocol(folder: string | null, server: Server): Promise<string | null> {
  const value = await readKept("protocols", folder, server);
  return typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? value : null;
}

/** Keeps it, or null to forget it. Nothing fails by it. */
export async function keepProtocol(
  folder: string | null,
  server: Server,
  protocol: string | null,
): Promise<void> {
  await writeKept("protocols", folder, server, protocol);
}
