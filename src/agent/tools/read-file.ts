import { createHash, type Hash } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import type { FileHandle } from "node:fs/promises";

import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { resolvePath } from "../../rules/paths/resolve-path.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { chunksOf, isBinary, openFile } from "../../workspace/files/open-file.ts";
import { READ_FILE } from "../../rules/tools/built-in.ts";
import { digestOf } from "../known-files.ts";
import { MAX_HASHED_BYTES } from "./call-files.ts";
import type { FileCall } from "./write-file.ts";

export const MAX_LINES = 2000;
const MAX_OUTPUT_BYTES = 100_000;
const MAX_LINE_LENGTH = 2000;

interface Window {
  /** The first line wanted, from 1. */
  readonly offset: number;
  /** Lines wanted, at most MAX_LINES. */
  readonly limit: number;
}

/**
 * Lines of a text file, each with its number and a tab before it. At most 2,000 lines and 100 KB,
 * lines cut at 2,000 characters; says where to read on. A file of any size is read in constant
 * memory; all of it is hashed, so that a later change of it by somebody else is noticed.
 */
export async function readTextFile(
  sandbox: Sandbox,
  input: Window & { readonly path: string },
  { permit, files }: FileCall,
): Promise<string> {
  const target = await resolvePath(sandbox, input.path, READ_FILE);
  await using file = await openFile(target);
  await permit(target, async () => ({
    shown: `What it holds (${target.stat?.size ?? 0} bytes) is sent to the model and stored in the session.`,
    basis: target.path,
  }));
  const size = target.stat?.size ?? 0n;
  const whole = { hash: createHash("sha256"), bytes: 0 };
  const text = (await isBinary(file))
    ? `(a binary file of ${size} bytes; not shown)`
    : await readLines(file, input, whole);
  if (size <= MAX_HASHED_BYTES) {
    // from where the window ended: what the model is shown is what is hashed
    for await (const chunk of chunksOf(file, whole.bytes)) {
      whole.hash.update(chunk);
    }
    files.hasRead(target, digestOf(whole.hash));
  }
  return text;
}

/** The bytes of a file that were read, from its beginning. */
interface Hashed {
  readonly hash: Hash;
  bytes: number;
}

/** The same of a file that is open. */
export async function readLines(file: FileHandle, input: Window, hashed?: Hashed): Promise<string> {
  const { shown, next } = await readWindow(linesOf(file, hashed), input);
  if (shown.length === 0) {
    return emptyWindow(input.offset);
  }
  const more = next === null ? "" : `\n(more lines follow; read on with offset ${next})`;
  return shown.join("\n") + more;
}

function emptyWindow(offset: number): string {
  if (offset === 1) {
    return "(the file is empty)";
  }
  throw refusal("the file has fewer lines than that; begin with a smaller offset");
}

interface Lines {
  readonly shown: readonly string[];
  /** The next line to read, or null at the end of the file. */
  readonly next: number | null;
}

async function readWindow(lines: AsyncIterable<string>, { offset, limit }: Window): Promise<Lines> {
  const shown: string[] = [];
  let bytes = 0;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (number < offset) {
      continue;
    }
    const text = `${number}\t${line}`;
    bytes += Buffer.byteLength(text) + 1;
    if (shown.length === limit || bytes > MAX_OUTPUT_BYTES) {
      return { shown, next: number };
    }
    shown.push(text);
  }
  return { shown, next: null };
}

/** Lines without their ends. What is longer than a line may be is dropped as it is read. */
async function* linesOf(file: FileHandle, hashed?: Hashed): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let line = "";
  let dropped = false;
  const finish = (): string => {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    const whole = dropped ? `${cut(text)}… (line cut)` : text;
    line = "";
    dropped = false;
    return whole;
  };
  for await (const bytes of chunksOf(file)) {
    if (hashed !== undefined) {
      hashed.hash.update(bytes);
      hashed.bytes += bytes.byteLength;
    }
    const parts = decoder.write(bytes).split("\n");
    for (const [index, part] of parts.entries()) {
      if (index > 0) {
        yield finish();
      }
      line += part.slice(0, MAX_LINE_LENGTH + 1 - line.length);
      dropped ||= line.length > MAX_LINE_LENGTH;
    }
  }
  line += decoder.end();
  if (line !== "") {
    yield finish();
  }
}

/** To the length of a line, never through a surrogate pair. */
function cut(text: string): string {
  const start = text.slice(0, MAX_LINE_LENGTH);
  return start.isWellFormed() ? start : start.slice(0, -1);
}
