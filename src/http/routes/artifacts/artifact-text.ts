import type { SchemaRegistry } from "../../../artifacts/registry.ts";
import { RepriseError } from "../../../core/errors.ts";
import { MAX_CONTENT_BYTES } from "../../../core/limits.ts";

/** Reads the known schemas, once; while one is broken, again at the next call. */
export type Schemas = () => Promise<SchemaRegistry>;

/** UTF-8 bytes of one artifact: reading YAML takes several times as long as reading JSON. */
const MAX_ARTIFACT_BYTES = { json: MAX_CONTENT_BYTES, yaml: MAX_CONTENT_BYTES / 8 };

/**
 * Limits of one artifact. While it is validated nothing else is answered, and bytes do not say how long that takes:
 * the worst texts of this size took 125 ms on an idle machine.
 */
export const ARTIFACT_LIMITS = { values: 100_000, lexemes: 50_000 };

const OFFLINE = "check the file with `reprise plan validate`, which takes 10 MiB";
const TOO_LARGE = {
  json: `The artifact is too large: JSON of at most 1 MiB is taken here; ${OFFLINE}.`,
  yaml: `The artifact is too large: YAML of at most 128 KiB is taken here; send it as JSON (1 MiB at most), or ${OFFLINE}.`,
};

/** Error codes: `body_too_large`, with the sentence that says what else to do. */
export function refuseLarge(text: string, syntax: keyof typeof MAX_ARTIFACT_BYTES): void {
  if (Buffer.byteLength(text) > MAX_ARTIFACT_BYTES[syntax]) {
    throw new RepriseError("body_too_large", TOO_LARGE[syntax]);
  }
}
