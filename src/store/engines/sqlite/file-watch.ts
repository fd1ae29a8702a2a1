import { type BigIntStats, closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

import { isOpenHere } from "./foreign-wal.ts";
import { corruptFile } from "./failure.ts";

/** Parts of a file's state that are compared. */
type FileState = Pick<BigIntStats, "size" | "mtimeNs">;

export interface FileWatch extends Disposable {
  /** False from the moment on that another program than SQLite is seen to have changed the file. */
  isIntact(found: FileState): boolean;
}

/** Parts of the header (https://sqlite.org/fileformat.html, 1.3). */
interface Header {
  /** False for a file without a write-ahead log, as a backup is. */
  readonly isLogged: boolean;
  /** Bytes at the end of each page that SQLite leaves alone: 0 in what Reprise makes, else long texts are read wrongly. */
  readonly reserved: number;
  /** Never goes back. */
  readonly changes: number;
  /** Never goes back; VACUUM raises it. */
  readonly schema: number;
  /** The size of the file after a whole checkpoint. */
  readonly bytes: bigint;
}

interface Seen {
  readonly file: FileState;
  readonly header: Header;
}

/**
 * Notices that another program cut or overwrote a database file in place. SQLite changes it at
 * checkpoints only, so its size and time say when to read its header. What cannot be noticed is
 * listed in docs/databases.md.
 *
 * Dispose of it after the connections of its store are closed. Error codes: `database_corrupt` for a header that no
 * database of Reprise has.
 */
export function createFileWatch(path: string): FileWatch {
  const held = holdDescriptor(path);
  const { descriptor } = held;
  const readState = (file: FileState): Seen => ({ file, header: readHeader(descriptor) });
  let seen = readState(fstatSync(descriptor, { bigint: true }));
  let intact = true;
  const release = (): void => {
    held.watches -= 1;
    closeUnusedDescriptors();
  };
  if (seen.header.reserved !== 0) {
    release();
    throw corruptFile();
  }
  return {
    isIntact: (file) => {
      if (intact && (seen.file.mtimeNs !== file.mtimeNs || seen.file.size !== file.size)) {
        const found = readState(file);
        intact = follows(seen, found);
        seen = found;
      }
      return intact;
    },
    [Symbol.dispose]: release,
  };
}

interface HeldDescriptor {
  readonly descriptor: number;
  watches: number;
}

/**
 * By device and inode, one for all watches of a file. Closing any descriptor of a file drops the
 * locks that SQLite has on it, and these are the process's: hence they are in the module's scope.
 */
const heldDescriptors = new Map<string, HeldDescriptor>();

function holdDescriptor(path: string): HeldDescriptor {
  const key = keyOf(statSync(path, { bigint: true }));
  const held = heldDescriptors.get(key) ?? { descriptor: openSync(path, "r"), watches: 0 };
  held.watches += 1;
  heldDescriptors.set(key, held);
  return held;
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Closes the descriptors that no watch needs, of files that nothing else here has open. */
export function closeUnusedDescriptors(): void {
  for (const [key, { descriptor, watches }] of heldDescriptors) {
    if (watches === 0 && !isOpenHere(fstatSync(descriptor), { except: descriptor })) {
      heldDescriptors.delete(key);
      closeSync(descriptor);
    }
  }
}

/** True if SQLite can have made the second state out of the first one. */
function follows(before: Seen, now: Seen): boolean {
  const isVacuumed = now.header.schema > before.header.schema && now.header.bytes === now.file.size;
  return (
    now.header.isLogged &&
    now.header.changes >= before.header.changes &&
    now.header.schema >= before.header.schema &&
    (now.file.size >= before.file.size || isVacuumed)
  );
}

const HEADER_BYTES = 100;

function readHeader(descriptor: number): Header {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(descriptor, header, 0, HEADER_BYTES, 0);
  // 1 means 65,536
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  return {
    isLogged: header.toString("latin1", 0, 16) === "SQLite format 3\0" && header[19] === 2,
    reserved: header.readUInt8(20),
    changes: header.readUInt32BE(24),
    schema: header.readUInt32BE(40),
    bytes: BigInt(pageSize) * BigInt(header.readUInt32BE(28)),
  };
}
