import type { BigIntStats, Dirent } from "node:fs";
import { lstat, readlink, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { CONTROL_FILES } from "../../core/files/control-file-table.ts";
import { isInside } from "../files/real-path.ts";
import { FolderNames, isUnreadable } from "./folder-names.ts";
import { type ControlPlace, identityOf, type KnownPlaces } from "./known-places.ts";
import { giveRights, isMissing, type ListFailure, listFolder } from "./list-folder.ts";

/** A part of a folder that could not be searched. */
export interface Missed {
  readonly path: string;
  /** `git`: git could not read the configuration of the repository. */
  readonly why: ListFailure | "many" | "git";
}

export interface EntrySearchOptions {
  /** A real path. */
  readonly root: string;
  /** Entries from before a command that is over now; null if none ran. */
  readonly known: KnownPlaces | null;
  /** Entries after which the search ends. */
  readonly maxEntries: number;
}

/** Folders that are read at the same time. */
const TOGETHER = 32;
/** Bytes of a folder's path below which every name in it can be reached. */
const MAX_PATH = 3500;

/** Where git keeps what it neither runs nor obeys. */
const REFS = /^(?:\/(?:modules|worktrees)\/.*)?\/(?:refs|logs)(?:\/|$)/;

export const GIT_REASON = CONTROL_FILES.find(({ name }) => name === ".git")?.reason ?? "";
const CLOSED = "it cannot be listed, so it cannot be searched";
const TOO_DEEP = "its path is too long for it to be searched";

/**
 * Searches the names of all that is in a folder. What cannot be searched is a finding itself if it can be kept
 * from changing, or moved out; else it is in `missed`.
 */
export class EntrySearch {
  readonly found = new Map<string, ControlPlace>();
  readonly missed: Missed[] = [];
  /** Folders that git takes for repositories although they are not called `.git`. */
  readonly bare: string[] = [];
  /** Files with several names, by identity. */
  readonly several = new Map<string, string>();
  readonly #options: EntrySearchOptions;
  #left: number;

  constructor(options: EntrySearchOptions) {
    this.#options = options;
    this.#left = options.maxEntries;
  }

  async walk(): Promise<void> {
    // the last folder first: a wide tree does not have to be kept whole
    const folders = [this.#options.root];
    while (folders.length > 0) {
      const batch = folders.splice(-TOGETHER);
      const below = await Promise.all(batch.map((folder) => this.#search(folder)));
      below.forEach((found) => found.forEach((folder) => folders.push(folder)));
      if (this.#left <= 0) {
        this.missed.push({ path: this.#options.root, why: "many" });
        return;
      }
    }
  }

  /** Adds what is at a path, if anything is. */
  async add(path: string, reason: string, source = path): Promise<void> {
    if (isUnreadable(path)) {
      // the system would look for another name
      const identity = basename(path);
      this.found.set(path, { kind: "folder", identity, target: null, reason, source });
      return;
    }
    try {
      const found = await lstat(path, { bigint: true });
      const target = found.isSymbolicLink() ? await readlink(path) : null;
      const link =
        target === null
          ? null
          : { target, end: await stat(path, { bigint: true }).catch(() => null) };
      const identity = identityOf(found, link);
      if (found.isFile() && found.nlink > 1n) {
        this.several.set(identity, reason);
      }
      this.found.set(path, { kind: kindOf(found), identity, target, reason, source });
    } catch (error) {
      if (!isMissing(error)) {
        this.missed.push({ path, why: "other" });
      }
    }
  }

  /** True for a place that was found, and for what is in a folder that was. */
  covers(path: string): boolean {
    for (let each = path; isInside(this.#options.root, each); each = dirname(each)) {
      const place = this.found.get(each);
      if (place !== undefined && (each === path || place.kind === "folder")) {
        return true;
      }
      if (dirname(each) === each) {
        return false;
      }
    }
    return false;
  }

  /**
   * The links below a folder that was found; files there with several names are added to those. Of objects git checks
   * the content, and of refs there can be thousands.
   */
  async linksBelow(top: string): Promise<string[]> {
    const reason = this.found.get(top)?.reason ?? "";
    const links: string[] = [];
    const folders = [top];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      // nothing in there can be changed; what cannot be listed leads nowhere for the user's programs either
      const entries = await listFolder(folder);
      const files: string[] = [];
      for await (const entry of typeof entries === "string" ? [] : entries) {
        this.#left -= 1;
        const path = join(folder, entry.name);
        if (entry.isSymbolicLink()) {
          links.push(path);
        } else if (entry.isFile()) {
          files.push(path);
        } else if (entry.isDirectory() && entry.name !== "objects") {
          folders.push(path);
        }
      }
      // other names count only before a command, see `addOtherNames`
      if (this.#options.known === null && !REFS.test(folder.slice(top.length))) {
        await this.#findSeveral(files, reason);
      }
      if (this.#left <= 0) {
        this.missed.push({ path: top, why: "many" });
        return links;
      }
    }
    return links;
  }

  async #findSeveral(files: readonly string[], reason: string): Promise<void> {
    for (let at = 0; at < files.length; at += TOGETHER) {
      const some = files.slice(at, at + TOGETHER).map(async (path) => {
        const file = await lstat(path, { bigint: true }).catch(() => null);
        if (file !== null && file.nlink > 1n) {
          this.several.set(identityOf(file, null), reason);
        }
      });
      await Promise.all(some);
    }
  }

  /** Adds the other names of files that have several: who writes to one of them changes all. */
  async addOtherNames(): Promise<void> {
    const folders = this.several.size === 0 ? [] : [this.#options.root];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = await listFolder(folder);
      for await (const entry of typeof entries === "string" ? [] : entries) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && !this.covers(path)) {
          folders.push(path);
        } else if (entry.isFile() && !this.covers(path)) {
          const file = await lstat(path, { bigint: true }).catch(() => null);
          const reason =
            file === null || file.nlink === 1n
              ? undefined
              : this.several.get(identityOf(file, null));
          if (reason !== undefined) {
            await this.add(path, reason);
          }
        }
      }
    }
  }

  /** Adds what is in one folder, and returns the folders to search next. */
  async #search(folder: string): Promise<string[]> {
    if (this.#left <= 0 || (await this.#isKnown(folder))) {
      return [];
    }
    const isTooDeep = Buffer.byteLength(folder) > MAX_PATH;
    const listing = isTooDeep ? "too_long" : await this.#list(folder);
    if (typeof listing === "string") {
      await this.#miss(folder, listing);
      return [];
    }
    const names = new FolderNames(folder);
    try {
      for await (const entries of inParts(listing)) {
        this.#left -= entries.length;
        entries.forEach((entry) => names.see(entry));
      }
    } catch {
      await this.#miss(folder, "other");
      return [];
    }
    const head = names.repositoryHead();
    if (head !== null) {
      this.bare.push(folder);
      await this.add(folder, GIT_REASON, join(folder, head));
      return [];
    }
    for (let at = 0; at < names.controls.length; at += TOGETHER) {
      const some = names.controls.slice(at, at + TOGETHER);
      await Promise.all(some.map(({ name, reason }) => this.add(join(folder, name), reason)));
    }
    return names.folders.map((name) => join(folder, name));
  }

  /** True for a folder that could not be changed meanwhile: it is added as it was. */
  async #isKnown(folder: string): Promise<boolean> {
    if (this.#options.known?.places.has(folder) === true && folder !== this.#options.root) {
      await this.add(folder, this.#options.known.places.get(folder)?.reason ?? CLOSED);
      const now = this.found.get(folder);
      if (now?.kind === "folder" && !this.#options.known.isNew(folder, now)) {
        return true;
      }
      this.found.delete(folder);
    }
    return false;
  }

  /** A command may have taken the rights to a folder of the user from him, which he gets back. */
  async #list(folder: string): ReturnType<typeof listFolder> {
    const { root, known } = this.#options;
    const listing = await listFolder(folder);
    if (listing !== "rights" || known === null || (await this.#isRenamed(folder))) {
      return listing;
    }
    return (await giveRights(root, folder)) ? listFolder(folder) : listing;
  }

  /** True for one that could not be listed before either, at another path. */
  async #isRenamed(folder: string): Promise<boolean> {
    const now = await lstat(folder, { bigint: true }).catch(() => null);
    const { known } = this.#options;
    const place = now === null ? null : { ...CLOSED_PLACE, identity: identityOf(now, null) };
    return place !== null && known !== null && known.earlierPath(place) !== null;
  }

  async #miss(folder: string, why: ListFailure): Promise<void> {
    const { root, known } = this.#options;
    const isFinding =
      folder !== root && (why === "rights" || (why === "too_long" && known !== null));
    if (isFinding) {
      await this.add(folder, why === "rights" ? CLOSED : TOO_DEEP);
    } else {
      this.missed.push({ path: folder, why });
    }
  }
}

const CLOSED_PLACE = { kind: "folder", target: null, reason: CLOSED, source: "" } as const;

function kindOf(found: BigIntStats): ControlPlace["kind"] {
  return found.isSymbolicLink() ? "link" : found.isDirectory() ? "folder" : "file";
}

const PART = 1000;

async function* inParts(
  entries: AsyncIterable<Dirent> | readonly Dirent[],
): AsyncGenerator<readonly Dirent[]> {
  if (Symbol.asyncIterator in entries) {
    let part: Dirent[] = [];
    for await (const entry of entries) {
      part.push(entry);
      if (part.length === PART) {
        yield part;
        part = [];
      }
    }
    yield part;
  } else {
    yield entries;
  }
}
