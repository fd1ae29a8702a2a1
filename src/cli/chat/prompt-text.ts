import type { Readable } from "node:stream";

import { RepriseError } from "../../core/errors.ts";
import { messageTooLarge, refuseUnstorable } from "../../exchange/storable-message.ts";
import { MAX_CONTENT_BYTES } from "../../core/limits.ts";
import type { CliContext } from "../process/context.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/**
 * The message of `-p`, or of what comes after `after`; `-` reads it from standard input, without the line
 * break at its end. Null if it is not given. Error codes: `invalid_usage`, `invalid_request`, `body_too_large`.
 */
export async function promptText(
  cli: CliContext,
  option: string | undefined,
  after = "-p",
): Promise<string | null> {
  if (option === undefined) {
    return null;
  }
  const text = option === "-" ? (await readAll(cli.stdin)).replace(/\r?\n$/, "") : option;
  if (text.trim() === "") {
    throw wrongUsage(`The message is empty; write something after ${after}.`);
  }
  // now: the options may change the session before it is sent
  refuseUnstorable(text);
  return text;
}

async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk as Uint8Array);
    bytes += piece.length;
    if (bytes > MAX_CONTENT_BYTES + 2) {
      throw messageTooLarge();
    }
    chunks.push(piece);
  }
  const text = decodeUtf8(Buffer.concat(chunks));
  if (text === null) {
    throw notUtf8();
  }
  return text;
}

/** The text of some bytes; null if they are not UTF-8. A byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export function notUtf8(): RepriseError {
  return new RepriseError(
    "invalid_request",
    "The message is not valid UTF-8; convert it to UTF-8 and send it again.",
  );
}
