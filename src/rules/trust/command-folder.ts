import { holdsAnything } from "./holds-anything.ts";
import { isTrusted, type TrustSource } from "./trust.ts";
import type { WorkFolder } from "./wide-folder.ts";

/**
 * True if an agent may run commands in this folder: its tools may write there, and it has no files that
 * direct an agent, or the user trusts those.
 */
export async function mayRunCommands(
  { path, readOnly }: WorkFolder,
  trust: TrustSource,
): Promise<boolean> {
  return path !== null && !readOnly && (!holdsAnything(path) || (await isTrusted(trust, path)));
}
