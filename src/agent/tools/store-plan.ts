import { constants } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { join } from "node:path";

import { systemCode } from "../../core/errors.ts";
import { temporaryName } from "../../workspace/files/temporary-name.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { holdFolder } from "../../workspace/files/held-folder.ts";

const FOLDER = [".reprise", "plans"];
/** Of one run. */
const MAX_PLANS = 100;
const MODE = 0o644;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Stores a plan in `.reprise/plans` of a folder, which is a real path, and returns its path there. Its name is
 * the run's id; a plan that differs from those of the run gets a number too, so none is replaced. The same plan
 * is stored once. It appears all at once, and no link is followed.
 */
export async function storePlan(
  root: string,
  { runId, text }: { readonly runId: string; readonly text: string },
): Promise<string> {
  const id = runId.toLowerCase();
  if (!UUID.test(id)) {
    throw refusal("runId must be a plain UUID, such as 3f2c8a54-6f0e-4f6b-9d43-0b1f3c1e7a90");
  }
  await using held = await holdFolder(root, join(root, ...FOLDER), { create: true });
  const temporary = join(held.at, temporaryName());
  try {
    await writeNew(temporary, text);
    await held.check();
    for (let n = 1; n <= MAX_PLANS; n += 1) {
      const name = n === 1 ? `${id}.json` : `${id}-${n}.json`;
      if (await isStored(temporary, join(held.at, name), text)) {
        return [...FOLDER, name].join("/");
      }
    }
  } finally {
    await rm(temporary, { force: true });
  }
  throw refusal(`this run has ${MAX_PLANS} plans already; ask the user to delete some`);
}

async function writeNew(path: string, text: string): Promise<void> {
  await using file = await open(path, "wx", MODE);
  await file.writeFile(text);
  await file.sync();
}

/** True if the plan has this name now, or had it before. */
async function isStored(temporary: string, path: string, text: string): Promise<boolean> {
  try {
    // unlike a rename it replaces nothing
    await link(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) !== "EEXIST") {
      throw error;
    }
    return (await contentOf(path, Buffer.byteLength(text))) === text;
  }
}

/** Null for another size, and for what is not a file. */
async function contentOf(path: string, size: number): Promise<string | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    await using file = await open(path, flags);
    const found = await file.stat();
    return found.isFile() && found.size === size ? await file.readFile("utf8") : null;
  } catch (error) {
    if (["ELOOP", "EISDIR", "ENXIO", "ENOENT"].includes(systemCode(error) ?? "")) {
      return null;
    }
    throw error;
  }
}
