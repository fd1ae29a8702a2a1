import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { sep } from "node:path";

import type { NodeFolders } from "../store/records/exchanges/nodes.ts";
import { realPathOf } from "../store/project-key.ts";
import { projectTop } from "../rules/trust/project-top.ts";
import { isTrusted, trustedProjects, type TrustSource } from "../rules/trust/trust.ts";

/** The folders in whose sessions a node runs exchanges. */
export interface ServedFolders {
  /** As the node announces them. */
  announced(): Promise<NodeFolders>;
  /** Asked each time: the user may trust another folder by now. */
  serves(folder: string): Promise<boolean>;
}

/** Serves the named folders, which are real paths, and all below them. */
export function namedFolders(within: readonly string[]): ServedFolders {
  return {
    announced: () => Promise.resolve({ within }),
    serves: async (folder) => isWithinOne(within, await realPathOf(folder)),
  };
}

/** Serves the folders that the user of the node trusts. */
export function trustedFolders(source: TrustSource): ServedFolders {
  return {
    announced: async () => ({ trusted: await trustedProjects(source) }),
    serves: (folder) => isTrusted(source, folder),
  };
}

/**
 * True if a node that announced these folders serves the folder, as far as this machine knows it: what
 * is trusted follows from files, which may be on the node's machine alone.
 */
export async function isServed(folders: NodeFolders, folder: string): Promise<boolean> {
  if ("within" in folders) {
    return isWithinOne(folders.within, await realPathOf(folder));
  }
  const isHere = await access(folder).then(
    () => true,
    () => false,
  );
  return isHere
    ? folders.trusted.includes(await projectTop(folder, homedir()))
    : isWithinOne(folders.trusted, folder);
}

function isWithinOne(tops: readonly string[], folder: string): boolean {
  return tops.some(
    (top) => folder === top || folder.startsWith(top.endsWith(sep) ? top : top + sep),
  );
}
