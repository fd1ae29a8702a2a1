import { holdsAnything } from "../trust/holds-anything.ts";
import { isTrusted, type TrustSource } from "../trust/trust.ts";
import { workFolder } from "../trust/wide-folder.ts";

/**
 * True if an agent may run commands in a session's folder: its tools may write there, and it has no files that
 * direct an agent, or the user trusts those.
 */
export async function mayRunCommands(
  repoPath: string | null,
  trust: TrustSource,
): Promise<boolean> {
  const { path, readOnly } = await workFolder(repoPath, trust);
  return (
    path !== null && !readOnly && ((await isTrusted(trust, path)) || !(await holdsAnything(path)))
  );
}
