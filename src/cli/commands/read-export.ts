import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";

import { RepriseError } from "../../core/errors.ts";
import { MAX_EXPORT_BYTES } from "../../core/limits.ts";
import type { CliContext } from "../process/context.ts";

/**
 * The text of an export; `-` reads it from standard input. What cannot be one, such as an endless device, is not read
 * to its end. Error codes: `file_unreadable`, `malformed_json`, `body_too_large`.
 */
export async function readExport(cli: CliContext, file: string): Promise<string> {
  const source = file === "-" ? cli.stdin : createReadStream(resolve(cli.cwd, file));
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [text, size] = ["", 0];
  for await (const bytes of piecesOf(source)) {
    size += bytes.length;
    if (size > MAX_EXPORT_BYTES) {
      throw new RepriseError(
        "body_too_large",
        `The export is larger than ${MAX_EXPORT_BYTES / 1024 / 1024} MiB; move its session with \`reprise copy\` instead.`,
      );
    }
    text += decoded(decoder, bytes);
  }
  return text + decoded(decoder, null);
}

async function* piecesOf(source: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of source) {
      yield Buffer.from(chunk as Uint8Array);
    }
  } catch (cause) {
    const sentence = "The export cannot be read; check its path.";
    throw new RepriseError("file_unreadable", sentence, { cause });
  }
}

/** JSON holds no NUL, which devices give without an end. */
function decoded(decoder: TextDecoder, bytes: Uint8Array | null): string {
  try {
    if (bytes?.includes(0) !== true) {
      return bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
    }
  } catch {
    // falls through: not UTF-8
  }
  throw new RepriseError("malformed_json", "The file is not JSON in UTF-8; export it again.");
}
