import type { Dirent } from "node:fs";
import { sep } from "node:path";

import {
  canHoldControlFile,
  controlFileIn,
  hasUsualControlName,
} from "../../core/files/control-files.ts";

/** Packages of others: the user runs what is in there, and package managers write it. */
const NOT_SEARCHED = "node_modules";

const NO_TEXT = "its name is not UTF-8, so it cannot be searched";

/** The names in a folder that matter, as they are read. */
export class FolderNames {
  readonly controls: { readonly name: string; readonly reason: string }[] = [];
  readonly folders: string[] = [];
  readonly #git = new Map<string, string>();
  readonly #above: string;

  constructor(folder: string) {
    this.#above = folder.slice(folder.lastIndexOf(sep) + 1);
  }

  see(entry: Dirent): void {
    const { name } = entry;
    const key = name.length <= MAX_GIT_NAME ? name.toLowerCase() : "";
    if (GIT_NAMES.has(key)) {
      this.#git.set(key, name);
    }
    const reason = reasonFor(this.#above, entry);
    if (reason !== null) {
      this.controls.push({ name, reason });
    } else if (entry.isDirectory() && isUnreadable(name)) {
      this.controls.push({ name, reason: NO_TEXT });
    } else if (entry.isDirectory() && name !== NOT_SEARCHED) {
      this.folders.push(name);
    }
  }

  /** Git takes a folder with these for a repository, whatever it is called; without its HEAD it does not. */
  repositoryHead(): string | null {
    const has = (name: string): boolean => this.#git.has(name);
    return has("commondir") || (has("objects") && has("refs"))
      ? (this.#git.get("head") ?? null)
      : null;
  }
}

/** The names by which git knows a repository. */
export const GIT_NAMES: ReadonlySet<string> = new Set(["head", "commondir", "objects", "refs"]);
const MAX_GIT_NAME = 10;

/** True for a name that cannot be given back to the system as text. */
export function isUnreadable(path: string): boolean {
  return path.includes("\uFFFD");
}

function reasonFor(above: string, entry: Dirent): string | null {
  const { name } = entry;
  const isPlain = /^[\w.@+-]*[\w@+-]$/.test(name);
  if (isPlain && !entry.isSymbolicLink() && !hasUsualControlName(name)) {
    return null;
  }
  const control = controlFileIn([above, name]);
  if (control !== null) {
    return control.reason;
  }
  return entry.isSymbolicLink() && canHoldControlFile([above, name])
    ? "other programs look for files that direct them below this name"
    : null;
}
