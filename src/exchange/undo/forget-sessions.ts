import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import type { KeptBytes } from "../../workspace/undo/kept-bytes.ts";

/** Folders in which a machine keeps something of sessions besides the database. */
export interface KeptOfSessions {
  /** Null if it keeps no bytes of files that tools changed. */
  readonly kept: KeptBytes | null;
  /** Where outputs of commands are kept; null for nowhere. */
  readonly outputFolder: string | null;
}

/** Deletes what this machine keeps of sessions that were deleted. False if not all of it could be deleted. */
export async function forgetSessions(
  { kept, outputFolder }: KeptOfSessions,
  deleted: readonly { readonly session: { readonly id: string } }[],
): Promise<boolean> {
  const ids = new Set(deleted.map(({ session }) => session.id));
  let isGone = (await kept?.forget([...ids])) ?? true;
  const names = outputFolder === null ? [] : await readdir(outputFolder).catch(() => []);
  for (const name of names.filter((each) => ids.has(sessionOf(each)))) {
    await rm(join(outputFolder ?? "", name), { force: true }).catch(() => (isGone = false));
  }
  return isGone;
}

/** Returns the session of an output with this file name: see `outputName`. */
function sessionOf(name: string): string {
  return name.split(".", 1)[0] ?? "";
}

/** The name of the file with the output of a command. */
export function outputName(session_id: string, id: string): string {
  return `${session_id}.${id}.txt`;
}
