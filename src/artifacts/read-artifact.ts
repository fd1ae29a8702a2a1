import { closeSync, constants, createReadStream, openSync, readSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable } from "node:stream";

import { systemCode } from "../core/errors.ts";
import { type Finding, textError } from "./finding.ts";
import type { Syntax } from "./sources/read-source.ts";
import { readText } from "./sources/read-text.ts";
import type { SizeLimits } from "./sources/source.ts";

/** The text of an artifact and how it is written. */
export interface ArtifactText {
  readonly text: string;
  readonly syntax: Syntax;
  /** Default: those for files. */
  readonly limits?: SizeLimits;
}

/**
 * Reads an artifact's file: one whose name ends with .yaml or .yml is YAML, every other strict
 * JSON. A pipe is read as `readArtifactStream` does. What cannot be read, or is not a file, is the
 * finding that says why.
 */
export async function readArtifactFile(path: string): Promise<ArtifactText | Finding> {
  try {
    const kind = await stat(path);
    if (kind.isFIFO()) {
      const pipe = openPipe(path);
      return pipe === null ? unreadable(NO_WRITER) : await readArtifactStream(pipe);
    }
    if (kind.isSocket() || kind.isCharacterDevice() || kind.isBlockDevice()) {
      return unreadable(NO_FILE);
    }
  } catch (error) {
    return unreadable(reasonOf(error));
  }
  const syntax = /\.ya?ml$/i.test(path) ? "yaml" : "json";
  return readWhole(createReadStream(path), () => syntax);
}

/** Reads what a stream holds: JSON if it begins with `{` or `[` or holds nothing, else YAML. */
export function readArtifactStream(stream: Readable): Promise<ArtifactText | Finding> {
  return readWhole(stream, (text) => (/^\s*(?:[{[]|$)/.test(text) ? "json" : "yaml"));
}

async function readWhole(
  stream: Readable,
  syntaxOf: (text: string) => Syntax,
): Promise<ArtifactText | Finding> {
  try {
    const text = await readText(stream);
    return typeof text === "string" ? { text, syntax: syntaxOf(text) } : text;
  } catch (error) {
    return unreadable(reasonOf(error));
  }
}

/** The stream of a pipe; null if the pipe has no writer, because reading would wait forever. */
function openPipe(path: string): Readable | null {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const first = readAtOnce(fd);
  if (first?.length === 0) {
    closeSync(fd);
    return null;
  }
  const stream = new Socket({ fd, readable: true, writable: false });
  if (first !== null) {
    stream.unshift(first);
  }
  return stream;
}

/** Returns what a pipe holds already; null if its writer has not written yet. */
function readAtOnce(fd: number): Buffer | null {
  const bytes = Buffer.alloc(65_536);
  try {
    return bytes.subarray(0, readSync(fd, bytes));
  } catch (error) {
    if (systemCode(error) === "EAGAIN") {
      return null;
    }
    closeSync(fd);
    throw error;
  }
}

const NO_WRITER = "nothing is written to this pipe; start what writes to it first";
const NO_FILE = "this is a device or a socket; name a file or a pipe";

const REASONS = new Map<unknown, string>([
  ["ENOENT", "there is no such file; check the path"],
  ["ENOTDIR", "there is no such file; check the path"],
  ["EISDIR", "this is a directory; name a file in it"],
  ["ENXIO", NO_FILE],
  ["EACCES", "this file may not be read; check its permissions"],
  ["EPERM", "this file may not be read; check its permissions"],
]);

function reasonOf(error: unknown): string {
  return (
    REASONS.get(systemCode(error)) ?? "the file could not be read; check the path and the disk"
  );
}

function unreadable(message: string): Finding {
  return textError("file_unreadable", message);
}
