import { stat } from "node:fs/promises";

import { RepriseError } from "../../core/errors.ts";

/** True if the path leads to a folder on this machine. */
export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true;
}

/** `then` says what to do once the folder is there. Error codes: `folder_missing`. */
export async function refuseMissingFolder(
  path: string,
  then = "send the message again",
): Promise<void> {
  if (!(await isFolder(path))) {
    throw new RepriseError(
      "folder_missing",
      `The session's folder does not exist on the machine that runs its exchanges. Restore the folder, then ${then}.`,
    );
  }
}
