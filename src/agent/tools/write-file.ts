import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { Boundary } from "./boundary.ts";
import { survey } from "./boundary.ts";
import type { Place } from "./locate.ts";
import { locate, refusal } from "./locate.ts";

const NEW_FILE_MODE = 0o644;

/** Creates or replaces a file, with the folders above it, and says how much was written. */
export async function writeTextFile(
  boundary: Boundary,
  input: { readonly path: string; readonly content: string },
): Promise<string> {
  const bounds = await survey(boundary);
  const place = await locate(bounds, input.path, "write");
  refuseFolder(place);
  if (place.stat === null) await mkdir(dirname(place.path), { recursive: true });
  // the folders are real now, so a link slipped in meanwhile is seen
  await replaceFile(await locate(bounds, input.path, "write"), input.content);
  const verb = place.stat === null ? "created" : "replaced";
  return `${verb} ${place.shown} (${Buffer.byteLength(input.content)} bytes)`;
}

/**
 * Puts the content in place all at once: a reader or a crash sees the old file or the new one, and
 * because a name is replaced and nothing is written through it, no link is ever followed.
 */
export async function replaceFile(place: Place, content: string): Promise<void> {
  refuseFolder(place);
  const temporary = join(dirname(place.path), `.reprise-${randomUUID()}.tmp`);
  try {
    await using file = await open(temporary, "wx", NEW_FILE_MODE);
    await file.writeFile(content);
    if (place.stat !== null) await file.chmod(Number(place.stat.mode & 0o7777n));
    await file.sync();
    await rename(temporary, place.path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function refuseFolder({ stat, shown }: Place): void {
  if (shown === "." || (stat !== null && !stat.isFile())) {
    throw refusal("only a file can be written; name one");
  }
}
