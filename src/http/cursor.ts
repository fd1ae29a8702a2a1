import type { ListPosition } from "../store/sessions/list.ts";
import { isStorableText } from "../core/text.ts";
import { invalidRequest } from "./validation.ts";

/** The place in the list as text for a URL. Only this service reads it. */
export function cursorOf(position: ListPosition): string {
  return Buffer.from(JSON.stringify([position.last_activity_at, position.id])).toString(
    "base64url",
  );
}

/**
 * Reads a cursor that a client sent back. Any place is harmless, since it is only compared with;
 * what is not a place is refused. Error codes: `invalid_request`.
 */
export function readCursor(cursor: string): ListPosition {
  const position = parse(cursor);
  if (!Array.isArray(position) || position.length !== 2) {
    throw notACursor();
  }
  const [last_activity_at, id]: unknown[] = position;
  if (!isPart(last_activity_at) || !isPart(id)) {
    throw notACursor();
  }
  return { last_activity_at, id };
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

function notACursor(): Error {
  return invalidRequest([{ pointer: "/cursor", message: "Must be a cursor from a Link header." }]);
}
