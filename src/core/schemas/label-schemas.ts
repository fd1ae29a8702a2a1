import { Type } from "typebox";

import { text } from "./field-schemas.ts";
import { MAX_KEY_LENGTH, MAX_METADATA_PAIRS, MAX_METADATA_VALUE, METADATA_KEY } from "../labels.ts";
import { MAX_NAME_LENGTH } from "../limits.ts";

/** The user's own title of a session. */
export const sessionName = () =>
  Type.String({ ...text(), minLength: 1, maxLength: MAX_NAME_LENGTH });

export const metadataValue = () => Type.String({ ...text(), maxLength: MAX_METADATA_VALUE });

const DESCRIPTION = `an object whose keys are 1 to ${MAX_KEY_LENGTH} letters, digits, "_", "." and "-", the first one a letter`;

/** An object of so many pairs at most, whose keys are those of metadata. */
export function metadataOf<Value>(value: object, maxProperties: number) {
  return Type.Unsafe<Readonly<Record<string, Value>>>({
    type: "object",
    description: DESCRIPTION,
    maxProperties,
    propertyNames: { type: "string", pattern: `^${METADATA_KEY}$`, description: DESCRIPTION },
    additionalProperties: value,
  });
}

export const metadata = () => metadataOf<string>(metadataValue(), MAX_METADATA_PAIRS);

/** `key:value` in a query. */
export const metadataPair = () =>
  Type.Unsafe<string>({
    ...text(),
    pattern: `^${METADATA_KEY}:`,
    maxLength: MAX_KEY_LENGTH + 1 + MAX_METADATA_VALUE,
    description: "a key of metadata, a colon and a value",
  });
