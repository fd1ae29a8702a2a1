import { Type } from "typebox";

import { oneOf } from "../../core/schemas/field-schemas.ts";
import { MAX_NAME_LENGTH } from "../../core/limits.ts";
import { ORIGINS } from "../../core/principal.ts";

/** Forms of the fields of an export. */
export const name = () => Type.String({ format: "storable-text", maxLength: MAX_NAME_LENGTH });
export const count = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const id = () => Type.String({ pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" });
export const time = () =>
  Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" });

/** Optional fields: each is written only if it says more than its absence. */
export const origins = {
  origin: Type.Optional(oneOf(ORIGINS)),
  authenticated: Type.Optional(Type.Unsafe<false>({ const: false })),
  accepted_at: Type.Optional(time()),
} as const;

/** Fields of every export: its format, when it was written, and the checksum of the rest. */
export function exportFields<Format extends string>(format: Format) {
  return {
    format: Type.Unsafe<Format>({ const: format }),
    /** The only part that differs between two exports of the same state. */
    exported_at: time(),
    /** Hex SHA-256 of `canonicalText` of the rest but `format` and `exported_at`. */
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  };
}
