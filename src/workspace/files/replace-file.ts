import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/** Permissions and owner of a file that is written. */
export interface Replacement {
  /** Permissions of the file, as far as the umask of the process allows; exactly these with an owner. */
  readonly mode: number;
  /** Owner of the file, such as that of the one before; without it, the process. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Writes a file in place of one that may be there, all at once: who reads it meanwhile, or after a crash, has all of the old
 * text or of the new one. Its folder has to exist. Rejects with the error of the system, and leaves nothing then.
 */
export async function replaceFile(
  file: string,
  text: string,
  { mode, owner }: Replacement,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await using handle = await open(temporary, "wx", mode);
    await handle.writeFile(text);
    if (owner !== undefined) {
      const made = await handle.stat();
      if (made.uid !== owner.uid || made.gid !== owner.gid) {
        await handle.chown(owner.uid, owner.gid);
      }
      await handle.chmod(mode);
    }
    await handle.sync();
    await rename(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}
