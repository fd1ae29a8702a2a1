import { createHash } from "node:crypto";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { isGone, type LeaseOwner, thisProcess } from "../../store/records/leases/this-process.ts";
import { replaceFile } from "../../workspace/files/replace-file.ts";

/** Bytes of the file: a larger one was not written here. */
const MAX_BYTES = 4096;

/** How a service of this user is found by the user's terminals. */
interface PageRecord {
  /** Address of the page, without a slash at its end. */
  readonly page: string;
  readonly owner: LeaseOwner;
}

/**
 * Notes where the page of a database is, in a file with mode 0600. The last service of
 * a database that starts is the one that is found. Returns what takes the note away, if it is still this process's. Nothing
 * fails by it: a note that cannot be written is missed only by questions in a terminal.
 */
export async function recordPage(
  folder: string | null,
  location: string,
  page: string,
): Promise<() => Promise<void>> {
  if (folder === null) {
    return async () => undefined;
  }
  const file = fileOf(folder, location);
  const owner = thisProcess("serve");
  const record: PageRecord = { page, owner };
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, JSON.stringify(record), { mode: 0o600 });
  } catch {
    // the folder cannot be written
  }
  return async () => {
    const found = await read(file);
    if (found !== null && found.owner.pid === owner.pid && isHere(found.owner)) {
      await rm(file, { force: true }).catch(() => undefined);
    }
  };
}

/** Returns the address of the page of a database that a process of this machine serves; null if none is known. */
export async function recordedPage(
  folder: string | null,
  location: string,
): Promise<string | null> {
  const found = folder === null ? null : await read(fileOf(folder, location));
  return found !== null && isHere(found.owner) && !isGone(found.owner) ? found.page : null;
}

/** False for a process of another machine, with which this one shares the folder. */
function isHere({ host, machine }: LeaseOwner): boolean {
  const here = thisProcess("serve");
  return host === here.host && machine === here.machine;
}

async function read(file: string): Promise<PageRecord | null> {
  try {
    if ((await stat(file)).size > MAX_BYTES) {
      return null;
    }
    const found = JSON.parse(await readFile(file, "utf8")) as PageRecord;
    const { protocol, href } = new URL(found.page);
    const isWhole = typeof found.owner.pid === "number" && typeof found.owner.machine === "string";
    return isWhole && ["http:", "https:"].includes(protocol)
      ? { page: href.replace(/\/$/, ""), owner: found.owner }
      : null;
  } catch {
    return null;
  }
}

/** The name is a hash, because an address may hold a password and a path may be longer than a name. */
function fileOf(folder: string, location: string): string {
  const name = createHash("sha256").update(location).digest("hex").slice(0, 32);
  return join(folder, `${name}.json`);
}
