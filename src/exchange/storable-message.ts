import { RepriseError } from "../core/errors.ts";
import { MAX_CONTENT_BYTES } from "../core/limits.ts";
import { isStorableText } from "../core/text/text.ts";

/** Error codes: `invalid_request`, `body_too_large`. */
export function refuseUnstorable(text: string): void {
  if (!isStorableText(text)) {
    throw new RepriseError(
      "invalid_request",
      "The message holds a NUL or an unpaired surrogate, which cannot be stored. Remove it and send again.",
    );
  }
  if (Buffer.byteLength(text) > MAX_CONTENT_BYTES) {
    throw messageTooLarge();
  }
}

export function messageTooLarge(): RepriseError {
  return new RepriseError(
    "body_too_large",
    "The message is larger than 1 MiB; send less at once, or name the file instead.",
  );
}
