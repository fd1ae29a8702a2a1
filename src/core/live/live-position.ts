import { isStorableText } from "../text/text.ts";

/** How far a reader of the live feed is: the id of each event says it, so any of them resumes. */
export interface LivePosition {
  /** Position of the last message that it has. */
  readonly seq: number;
  /** The exchange and its attempt that `message_id` belongs to. */
  readonly n: number;
  readonly attempt: number;
  /** Code points that it has of the message's text, and their checksum. */
  readonly offset: number;
  readonly checksum: number;
  /** Revision of the exchange that it was shown last; 0 without one. */
  readonly revision: number;
  /** The message that arrives; null between two messages. */
  readonly message_id: string | null;
}

/** Longer ids do not fit in a header; the text of such a message is sent when it is stored. */
const MAX_ENCODED_ID = 4096;
const NUMBER = "(0|[1-9]\\d{0,14})";
const FORM = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}\\.${NUMBER}\\.([0-9a-f]{8})\\.${NUMBER}\\.(.{1,${MAX_ENCODED_ID}})$`,
);
const NONE = "-";

/** The position of a reader that has the messages up to `seq` and nothing that arrives. */
export function positionAfter(seq: number): LivePosition {
  return { seq, n: 0, attempt: 0, offset: 0, checksum: EMPTY, revision: 0, message_id: null };
}

export function writePosition(position: LivePosition): string {
  const { seq, n, attempt, offset, checksum, revision, message_id } = position;
  const hex = checksum.toString(16).padStart(8, "0");
  const id = message_id === null ? NONE : encodeId(message_id);
  return `${seq}.${n}.${attempt}.${offset}.${hex}.${revision}.${id}`;
}

/** Null for what `writePosition` cannot have written. */
export function readPosition(text: string): LivePosition | null {
  const found = FORM.exec(text);
  if (found === null) {
    return null;
  }
  const [seq = 0, n = 0, attempt = 0, offset = 0] = found.slice(1, 5).map(Number);
  const id = found[7] ?? "";
  const position = {
    seq,
    n,
    attempt,
    offset,
    checksum: Number.parseInt(found[5] ?? "", 16),
    revision: Number(found[6]),
    message_id: id === NONE ? null : decodeId(id),
  };
  const isEmpty = offset === 0 && position.checksum === EMPTY && n === 0 && attempt === 0;
  if (position.message_id === null && !isEmpty) {
    return null;
  }
  // each position has one form: a text of another form is not ours
  return writePosition(position) === text ? position : null;
}

/** True if the text of the message can be sent while it arrives. */
export function fitsPosition(message_id: string): boolean {
  return (
    message_id !== "" && isStorableText(message_id) && encodeId(message_id).length <= MAX_ENCODED_ID
  );
}

function encodeId(id: string): string {
  // an id that is the sign for none gets another form
  return id === NONE ? "%2D" : encodeURIComponent(id.toWellFormed());
}

/** Empty for what is the id of no message: it is written otherwise. */
function decodeId(id: string): string {
  try {
    const message_id = decodeURIComponent(id);
    return isStorableText(message_id) ? message_id : "";
  } catch {
    return "";
  }
}

const EMPTY = 0x811c9dc5;
const PRIME = 0x01000193;

/** The checksum of a text whose beginning has the checksum `before` (32-bit FNV-1a of its UTF-16 units). */
export function addToChecksum(before: number, text: string): number {
  let sum = before;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), PRIME);
  }
  return sum >>> 0;
}

/** The checksum of the empty text. */
export const EMPTY_CHECKSUM = EMPTY;
