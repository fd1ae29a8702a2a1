/** What is at a path, as far as it can be put back. Links are never followed. */
export type Entry = FileEntry | LinkEntry | FolderEntry;

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

/** True if there is no difference. A file whose bytes are not known is different from every other. */
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
  }
}
