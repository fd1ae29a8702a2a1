import { randomUUID } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import type { Sandbox } from "../../exchange/files/sandbox.ts";
import type { PermitChange } from "../permit.ts";
import { describeChange, shownText } from "./change.ts";
import { holdFolder } from "./held-folder.ts";
import { type ResolvedPath, resolvePath } from "../../exchange/files/resolve-path.ts";
import { refusal } from "../../exchange/files/refusal.ts";

const NEW_FILE_MODE = 0o644;

/** Creates or replaces a file, with the folders above it, and says how much was written. */
export async function writeTextFile(
  sandbox: Sandbox,
  input: { readonly path: string; readonly content: string },
  permit: PermitChange,
): Promise<string> {
  const target = await resolvePath(sandbox, input.path, "write_file");
  refuseFolder(target);
  await permit(target, async () =>
    describeChange({ target, before: await shownText(target), after: input.content }),
  );
  await replaceFile(target, input.content);
  const verb = target.stat === null ? "created" : "replaced";
  return `${verb} ${target.shown} (${Buffer.byteLength(input.content)} bytes)`;
}

/**
 * Puts the content in place all at once, with the folders above it: a reader or a crash sees the old
 * file or the new one. A name is replaced and nothing is written through it, and all happens in the
 * folder that is held, so no link is ever followed and nothing is made outside.
 */
export async function replaceFile(target: ResolvedPath, content: string): Promise<void> {
  const { stat } = target;
  refuseFolder(target);
  const folder = dirname(target.path);
  await using held = await holdFolder(target.root, folder, { create: stat === null });
  const temporary = join(held.at, `.reprise-${randomUUID()}.tmp`);
  try {
    await using file = await open(temporary, "wx", NEW_FILE_MODE);
    await file.writeFile(content);
    if (stat !== null) {
      await file.chmod(Number(stat.mode & 0o7777n));
    }
    await file.sync();
    await held.check();
    await refuseChanged(target, join(held.at, basename(target.path)));
    await rename(temporary, join(held.at, basename(target.path)));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function refuseFolder({ shown, stat }: ResolvedPath): void {
  if (shown === "." || (stat !== null && !stat.isFile())) {
    throw refusal("only a file can be written; name one");
  }
}

/** What a person allowed, or a model has read, is not what is there any more. */
async function refuseChanged({ stat }: ResolvedPath, path: string): Promise<void> {
  const now = await lstat(path, { bigint: true }).catch(() => null);
  if (now?.ino !== stat?.ino || now?.mtimeNs !== stat?.mtimeNs || now?.size !== stat?.size) {
    throw refusal("the file was changed by another program meanwhile; read it again");
  }
}
