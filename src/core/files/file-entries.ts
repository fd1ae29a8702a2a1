/** Entry at a path, as far as it can be put back. Links are never followed. */
export type Entry = FileEntry | LinkEntry | FolderEntry | UnrecordedEntry;

export interface FileEntry {
  readonly kind: "file";
  /** SHA-256 of its bytes, in hexadecimal; null for a file that is too large to be kept. */
  readonly hash: string | null;
  /** Bytes. */
  readonly size: number;
  /** The permission bits. */
  readonly mode: number;
}

export interface LinkEntry {
  readonly kind: "link";
  readonly target: string;
}

export interface FolderEntry {
  readonly kind: "folder";
  /** Null for a folder that a tool made on the way to a file. */
  readonly mode: number | null;
}

/** Entry that cannot be put back after a command may have changed it, whatever it is. */
export interface UnrecordedEntry {
  readonly kind: "unrecorded";
  readonly reason: UnrecordedReason;
  /** Paths besides this one that are not named. */
  readonly others?: number;
}

/**
 * `ignored`: git ignores it; `type`: it is a pipe, a socket or the like, cannot be read, or has a name that is not UTF-8;
 * `late`: it was changed after Reprise was killed; `limit`: there is too much in the folder; `unkept`: nothing could be
 * written to the folder of the user's state.
 */
export type UnrecordedReason = "ignored" | "type" | "late" | "limit" | "unkept";

/** True if there is no difference. What is not known is different from everything. */
export function isSameEntry(a: Entry | null, b: Entry | null): boolean {
  if (a === null || b === null) {
    return a === b;
  }
  switch (a.kind) {
    case "file":
      return b.kind === "file" && a.hash !== null && a.hash === b.hash && a.mode === b.mode;
    case "link":
      return b.kind === "link" && a.target === b.target;
    case "folder":
      return b.kind === "folder" && (a.mode ?? b.mode) === (b.mode ?? a.mode);
    case "unrecorded":
      return false;
  }
}
