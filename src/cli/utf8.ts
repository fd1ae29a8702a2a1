import { RepriseError } from "../core/errors.ts";

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
