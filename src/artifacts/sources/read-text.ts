import type { Readable } from "node:stream";

import { type Finding, textError } from "../finding.ts";
import { createLineIndex } from "../line-index.ts";

/** Bytes of one artifact file, at most: 10 MiB. */
const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/**
 * Reads a stream of UTF-8 text, a byte order mark left out. Never holds more than MAX_TEXT_BYTES
 * and a chunk. A text too large or not in UTF-8 is returned as the finding that says so.
 */
export async function readText(stream: Readable): Promise<string | Finding> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > MAX_TEXT_BYTES) {
      return textError("file_too_large", TOO_LARGE);
    }
  }
  return decode(Buffer.concat(chunks));
}

const TOO_LARGE = "the file is larger than 10 MiB; split it into smaller files";
const NOT_UTF8 = "the bytes here are not UTF-8; save the file in that encoding";

function decode(bytes: Buffer): string | Finding {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const before = decodable(bytes);
    return textError("not_utf8", NOT_UTF8, createLineIndex(before)(before.length));
  }
}

/** The beginning up to the first character that is not UTF-8: it would be written another way. */
function decodable(bytes: Buffer): string {
  const written = Buffer.from(bytes.toString("utf8"));
  const end = written.findIndex((byte, index) => byte !== bytes[index]);
  return new TextDecoder().decode(bytes.subarray(0, end), { stream: true });
}
