/** What recovery can use of a write-ahead log (https://sqlite.org/fileformat.html#walformat). */
export interface Log {
  /** Where each commit ends, in bytes, in the order of commits. */
  readonly commits: readonly number[];
  /** Bytes after the last commit are what an earlier round of the log left behind. */
  readonly end: number;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Reads the frames of the log's present round: those that carry the salts of its header. */
export function readLog(log: Buffer): Log {
  const commits: number[] = [];
  if (log.length < HEADER_BYTES) {
    return { commits, end: 0 };
  }
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  let place = HEADER_BYTES;
  while (place + frameBytes <= log.length) {
    if (!log.subarray(place + 8, place + 16).equals(salts)) {
      break;
    }
    const pages = log.readUInt32BE(place + 4);
    place += frameBytes;
    if (pages !== 0) {
      commits.push(place);
    }
  }
  return { commits, end: commits.at(-1) ?? 0 };
}

/** One way in which a power cut or a bad disk leaves a log behind. */
export interface Damage {
  readonly kind: "cut" | "bit" | "sector" | "tail";
  /** The first byte that is not as it was written. */
  readonly at: number;
}

export const DAMAGES = ["cut", "bit", "sector", "tail"] as const;

/** Bytes that a disk writes at once. */
const SECTOR = 512;

/** A damaged copy of a log: `at` is random, but never after its end. */
export function damagedLog(
  log: Buffer,
  { kind, random }: { kind: Damage["kind"]; random: () => number },
): { readonly damage: Damage; readonly log: Buffer } {
  const below = (bound: number): number => Math.floor(random() * bound);
  const copy = Buffer.from(log);
  const place = below(log.length);
  switch (kind) {
    case "cut":
      return { damage: { kind, at: place }, log: copy.subarray(0, place) };
    case "bit":
      copy[place] = (copy[place] ?? 0) ^ (1 << below(8));
      break;
    case "sector":
      copy
        .subarray(place - (place % SECTOR))
        .subarray(0, SECTOR)
        .fill(0);
      break;
    case "tail":
      copy.set(noise(copy.length - place, random), place);
  }
  return { damage: { kind, at: firstDifference(log, copy) }, log: copy };
}

/** So many random bytes, drawn four at a time. */
function noise(bytes: number, random: () => number): Uint8Array {
  const words = Uint32Array.from({ length: Math.ceil(bytes / 4) }, () => random() * 2 ** 32);
  return new Uint8Array(words.buffer, 0, bytes);
}

/** Where two of the same length differ first; their length if they do not. */
function firstDifference(one: Buffer, other: Buffer): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) {
    at += 1;
  }
  return at;
}
