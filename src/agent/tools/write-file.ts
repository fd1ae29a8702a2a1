import type { BigIntStats } from "node:fs";
import { lstat, open, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";

import { systemCode } from "../../core/errors.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { statOrNull } from "../../workspace/files/real-path.ts";
import { openFile } from "../../workspace/files/open-file.ts";
import type { Content } from "../../workspace/undo/keeper.ts";
import { KEPT_LIMITS } from "../../workspace/undo/kept-bytes.ts";
import type { MakeChanges, PermitChange } from "../permit/permit.ts";
import { type CallFiles, fileChanged } from "./call-files.ts";
import { describeChange, shownText } from "../permit/change.ts";
import { holdFolder } from "../../workspace/files/held-folder.ts";
import { type ResolvedPath, resolvePath } from "../../rules/paths/resolve-path.ts";
import { WRITE_FILE } from "../../rules/tools/built-in.ts";
import { temporaryName } from "../../workspace/files/temporary-name.ts";
import { refusal } from "../../workspace/files/refusal.ts";

const NEW_FILE_MODE = 0o644;

/** A call that reads or changes a file. */
export interface FileCall {
  readonly permit: PermitChange;
  readonly files: CallFiles;
}

/** Creates or replaces a file, with the folders above it, and says how much was written. */
export async function writeTextFile(
  sandbox: Sandbox,
  input: { readonly path: string; readonly content: string },
  { permit, files }: FileCall,
): Promise<string> {
  const target = await resolvePath(sandbox, input.path, WRITE_FILE);
  refuseFolder(target);
  const make = await permit(target, async () => {
    await files.refuseForeign(target);
    return describeChange({ target, before: await shownText(target), after: input.content });
  });
  await replaceFile(target, { content: input.content }, make);
  const verb = target.stat === null ? "created" : "replaced";
  return `${verb} ${target.shown} (${Buffer.byteLength(input.content)} bytes)`;
}

/**
 * Puts the content in place all at once, with the folders above it: a reader or a crash sees the old
 * file or the new one. A name is replaced and nothing is written through it, and all happens in the
 * folder that is held, so no link is ever followed and nothing is made outside. Without `rights`, a file that is
 * there keeps its own.
 */
export async function replaceFile(
  target: ResolvedPath,
  { content, rights = target.stat }: { readonly content: string; readonly rights?: Rights | null },
  make: MakeChanges,
): Promise<void> {
  const { root, shown, stat } = target;
  refuseFolder(target);
  if (stat === null) {
    await makeFolders(target, make);
  }
  await using held = await holdFolder(root, dirname(target.path));
  const name = join(held.at, basename(target.path));
  await refuseChanged(target, name);
  const before = await contentOf(target);
  const bytes = Buffer.from(content);
  // as the system would set it: it has to be known before the file is made
  const mode = rights === null ? NEW_FILE_MODE & ~process.umask() : permissionBits(rights);
  const after = { kind: "file" as const, size: bytes.byteLength, mode, bytes };
  await make(root, [{ path: shown, before, after }], async () => {
    const temporary = join(held.at, temporaryName());
    try {
      await using file = await open(temporary, "wx", NEW_FILE_MODE);
      await file.writeFile(bytes);
      await file.chmod(mode);
      await file.sync();
      await held.check();
      await refuseChanged(target, name);
      await rename(temporary, name);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}

/** Removes a file from the folder that is held. */
export async function removeFile(target: ResolvedPath, make: MakeChanges): Promise<void> {
  const { root, path, shown } = target;
  refuseFolder(target);
  await using held = await holdFolder(root, dirname(path));
  const at = join(held.at, basename(path));
  await held.check();
  await refuseChanged(target, at);
  await make(root, [{ path: shown, before: await contentOf(target), after: null }], async () => {
    await refuseChanged(target, at);
    await unlink(at);
  });
}

/**
 * Gives a file another path and content, with its rights. It is written there before it is removed here: after a
 * crash it may be at both paths, and it is at one of them.
 */
export async function moveFile(
  { from, to }: { readonly from: ResolvedPath; readonly to: ResolvedPath },
  content: string,
  make: MakeChanges,
): Promise<void> {
  await replaceFile(to, { content, rights: from.stat }, make);
  await removeFile(from, make);
}

/** What is there now, to be put back; see `refuseChanged`. */
async function contentOf(target: ResolvedPath): Promise<Content | null> {
  const { stat } = target;
  if (stat === null) {
    return null;
  }
  const entry = { kind: "file" as const, size: Number(stat.size), mode: permissionBits(stat) };
  if (entry.size > KEPT_LIMITS.session) {
    return { ...entry, bytes: null };
  }
  try {
    await using file = await openFile(target);
    const bytes = await file.readFile();
    return { ...entry, size: bytes.byteLength, bytes };
  } catch (error) {
    if (systemCode(error) !== "EACCES") {
      throw error;
    }
    // who may replace a file need not be able to read it
    return { ...entry, bytes: null };
  }
}

/** The folders above a new file that are not there. */
async function makeFolders({ root, path }: ResolvedPath, make: MakeChanges): Promise<void> {
  const missing: string[] = [];
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    if ((await statOrNull(folder)) !== null) {
      break;
    }
    missing.unshift(relative(root, folder).split(sep).join("/"));
  }
  if (missing.length > 0) {
    const after = { kind: "folder", mode: null } as const;
    const changes = missing.map((each) => ({ path: each, before: null, after }));
    await make(root, changes, async () => {
      await using _ = await holdFolder(root, dirname(path), { create: true });
    });
  }
}

type Rights = Pick<BigIntStats, "mode">;

function permissionBits({ mode }: Rights): number {
  return Number(mode & 0o7777n);
}

function refuseFolder({ shown, stat }: ResolvedPath): void {
  if (shown === "." || (stat !== null && !stat.isFile())) {
    throw refusal("only a file can be written; name one");
  }
}

/** What a person allowed, or a model has read, is not what is there any more. */
async function refuseChanged({ stat, shown }: ResolvedPath, path: string): Promise<void> {
  const now = await lstat(path, { bigint: true }).catch(() => null);
  if (now?.ino !== stat?.ino || now?.mtimeNs !== stat?.mtimeNs || now?.size !== stat?.size) {
    throw fileChanged(shown);
  }
}
