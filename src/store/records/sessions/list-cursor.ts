import type { ListOrder } from "../../../core/sessions.ts";
import { invalidRequest } from "../../../core/invalid-request.ts";
import { isStorableText } from "../../../core/text/text.ts";
import type { ListPosition } from "./list.ts";

/** The position in the list as text for a URL. Only this service reads it. */
export function cursorOf({ at, id }: ListPosition, order: ListOrder): string {
  return Buffer.from(JSON.stringify([at, id, order])).toString("base64url");
}

/**
 * Reads a cursor that a client sent back. Any position is harmless, since it is only compared with;
 * what is not a position in this order is refused. Error codes: `invalid_request`.
 */
export function readCursor(cursor: string, order: ListOrder): ListPosition {
  const parts = parse(cursor);
  const [at, id, cursorOrder, ...more]: unknown[] = Array.isArray(parts) ? parts : [];
  if (!isPart(at) || !isPart(id) || cursorOrder !== order || more.length > 0) {
    throw invalidRequest([
      { pointer: "/cursor", message: "Must be a cursor from a Link header of the same order." },
    ]);
  }
  return { at, id };
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}

function isPart(value: unknown): value is string {
  return typeof value === "string" && isStorableText(value);
}
