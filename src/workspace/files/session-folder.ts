import { resolve } from "node:path";

import { RepriseError } from "../../core/errors.ts";
import type { Session } from "../../core/sessions.ts";
import { keyOfRealPath, realPathOf } from "../../store/project-key.ts";

/**
 * The real path of a session's folder; null if it has none. A folder that was replaced by a link is refused: what
 * runs in a folder above could lead the session to files that it was not given. A path without links is what the
 * session names, whatever its key: it comes from another machine, or from before a link was removed.
 *
 * Error codes: `folder_moved`.
 */
export async function sessionFolder({
  repo_path,
  project_key,
}: Pick<Session, "repo_path" | "project_key">): Promise<string | null> {
  if (repo_path === null) {
    return null;
  }
  const real = await realPathOf(repo_path);
  if (real === resolve(repo_path) || keyOfRealPath(real) === project_key) {
    return real;
  }
  throw new RepriseError(
    "folder_moved",
    // without the paths: the record of an exchange keeps the sentence, and its readers may not know the folder
    "The session's folder now leads to another one than the session began with. If a link was put in its place, put the folder back. If it moved on purpose, begin a new session: `reprise --repo PATH`.",
  );
}
