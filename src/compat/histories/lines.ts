import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

import { RepriseError } from "../../core/errors.ts";
import type { Problem } from "./history.ts";

/** A line of JSON, or why it is none. */
export type Line =
  | { readonly number: number; readonly value: unknown; readonly problem?: undefined }
  | { readonly number: number; readonly problem: Problem };

/** Bytes of a line that is read; programs keep whole files in one. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const PIECE = 256 * 1024;
const LINE_FEED = 10;

/**
 * Reads lines of JSON one after the other, so that a file may be larger than the memory. The file is opened for
 * reading, and only if it is one: a pipe or a device is not read. Empty lines are skipped.
 *
 * Error codes: `file_unreadable`.
 */
export async function* jsonLines(source: string): AsyncGenerator<Line> {
  await using file = await openFile(source);
  let number = 0;
  for await (const bytes of rawLines(file)) {
    number += 1;
    const line = bytes === null ? tooLong() : parsed(bytes);
    if (line !== "empty") {
      yield line.problem === undefined
        ? { number, value: line.value }
        : { number, problem: { source, line: number, message: line.problem } };
    }
  }
}

/** Opens a regular file. Error codes: `file_unreadable`. */
export async function openFile(source: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // a pipe that nobody writes to would be waited for
    file = await open(source, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw unreadable("cannot be opened; check its path", cause);
  }
  if (!(await file.stat()).isFile()) {
    await file.close();
    throw unreadable("is a folder, a pipe or a device; name the file of a history");
  }
  return file;
}

export function unreadable(why: string, cause?: unknown): RepriseError {
  const options = cause === undefined ? {} : { cause };
  return new RepriseError("file_unreadable", `The file ${why}.`, options);
}

/** Yields the bytes of each line, which are valid until the next one; null for one that is too long. */
async function* rawLines(file: FileHandle): AsyncGenerator<Buffer | null> {
  let pieces: Buffer[] = [];
  let size = 0;
  const take = (): Buffer | null => {
    const line = size > MAX_LINE_BYTES ? null : Buffer.concat(pieces);
    [pieces, size] = [[], 0];
    return line;
  };
  const add = (piece: Buffer): void => {
    size += piece.length;
    pieces = size > MAX_LINE_BYTES ? [] : [...pieces, piece];
  };
  for (;;) {
    const { bytesRead, buffer } = await file
      .read(Buffer.allocUnsafe(PIECE), 0, PIECE, null)
      .catch((cause: unknown) => {
        throw unreadable("cannot be read to its end", cause);
      });
    if (bytesRead === 0) {
      break;
    }
    let from = 0;
    for (;;) {
      const end = buffer.indexOf(LINE_FEED, from);
      if (end < 0 || end >= bytesRead) {
        add(buffer.subarray(from, bytesRead));
        break;
      }
      add(buffer.subarray(from, end));
      yield take();
      from = end + 1;
    }
  }
  if (size > 0) {
    yield take();
  }
}

type Parsed =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: string };

const tooLong = (): Parsed => ({
  problem: `is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`,
});

function parsed(bytes: Buffer): Parsed | "empty" {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { problem: "is not UTF-8" };
  }
  if (text.trim() === "") {
    return "empty";
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: "is not JSON, or was cut off" };
  }
}
