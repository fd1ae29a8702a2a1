import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { replaceFile } from "../workspace/files/replace-file.ts";
import type { Server } from "./configured-servers.ts";

/** Bytes of the file of one server: a larger one was not written here. */
const MAX_BYTES = 1024 * 1024;

/** Folders of what is kept of servers. */
type Kind = "tools" | "offers" | "protocols";

/** Returns what is kept of a server, which another program may have written; null for nothing. */
export async function readKept(
  kind: Kind,
  folder: string | null,
  server: Server,
): Promise<unknown> {
  try {
    const file = fileOf(kind, folder, server);
    if (file === null || (await stat(file)).size > MAX_BYTES) {
      return null;
    }
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return null;
  }
}

/** Keeps something of a server in place of what was there, all at once. Nothing fails by it. */
export async function writeKept(
  kind: Kind,
  folder: string | null,
  server: Server,
  kept: unknown,
): Promise<void> {
  const file = fileOf(kind, folder, server);
  if (file === null) {
    return;
  }
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, JSON.stringify(kept), { mode: 0o600 });
  } catch {
    // the server is asked again
  }
}

/** Returns where it is kept; null without a folder. */
export function fileOf(kind: Kind, folder: string | null, { name, hash }: Server): string | null {
  return folder === null ? null : join(folder, kind, `${name}-${hash}.json`);
}
