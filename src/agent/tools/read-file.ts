import { StringDecoder } from "node:string_decoder";
import type { FileHandle } from "node:fs/promises";

import type { Sandbox } from "../../exchange/files/sandbox.ts";
import { resolvePath } from "../../exchange/files/resolve-path.ts";
import { refusal } from "../../exchange/files/refusal.ts";
import type { PermitChange } from "../permit.ts";
import { isBinary, openFile } from "../../exchange/files/open-file.ts";

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
 * memory, and no further than the window.
 */
export async function readTextFile(
  sandbox: Sandbox,
  input: Window & { readonly path: string },
  permit: PermitChange,
): Promise<string> {
  const target = await resolvePath(sandbox, input.path, "read_file");
  await using file = await openFile(target);
  await permit(target, async () => ({
    shown: `What it holds (${target.stat?.size ?? 0} bytes) is sent to the model and stored in the session.`,
    basis: target.path,
  }));
  if (await isBinary(file)) {
    return `(a binary file of ${target.stat?.size ?? 0} bytes; not shown)`;
  }
  return await readLines(file, input);
}

/** The same of a file that is open. */
export async function readLines(file: FileHandle, input: Window): Promise<string> {
  const { shown, next } = await readWindow(file, input);
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

async function readWindow(file: FileHandle, { offset, limit }: Window): Promise<Lines> {
  const shown: string[] = [];
  let bytes = 0;
  let number = 0;
  for await (const line of linesOf(file)) {
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
async function* linesOf(file: FileHandle): AsyncGenerator<string> {
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
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) {
    const parts = decoder.write(Buffer.from(chunk)).split("\n");
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
