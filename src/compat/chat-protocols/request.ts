import { invalidRequest } from "../../core/invalid-request.ts";
import type { RepriseError } from "../../core/errors.ts";
import { isStorableText } from "../../core/text/text.ts";
import type { Reply } from "./reply.ts";

/** Request of a client of another protocol. */
export type UiRequest =
  /** `id` is the client's: a message that is sent again is not stored again. */
  | { readonly type: "message"; readonly id: string; readonly text: string }
  | {
      readonly type: "answers";
      readonly replies: readonly QuestionReply[];
      /** Calls of the exchange that the client shows already. */
      readonly calls: readonly string[];
      /** The id of a user's message that comes last; it must be one that was sent before. */
      readonly message: string | null;
      /** The id of the exchange that asked; null if the client does not say. */
      readonly exchange: string | null;
    };

export interface QuestionReply extends Reply {
  readonly question: string;
  /** The call with which the client shows the question, if it does. */
  readonly call: string | null;
}

/** A text that an object of a client may have under a name; null if it has none. */
export function textAt(value: unknown, name: string): string | null {
  const member = memberOf(value, name);
  return typeof member === "string" && member !== "" ? member : null;
}

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/**
 * The text of a message that is made of parts. Error codes: `invalid_request` for another part than a text, and for
 * a text that cannot be stored.
 */
export function textOfParts(parts: readonly unknown[]): string {
  const whole = parts
    .map((part) => {
      const text = memberOf(part, "text");
      if (memberOf(part, "type") !== "text" || typeof text !== "string") {
        throw refuseAt("/messages", "A message can have parts of text only.");
      }
      return text;
    })
    .join("");
  if (whole === "" || !isStorableText(whole)) {
    throw refuseAt("/messages", "A message must be a text without NUL and half characters.");
  }
  return whole;
}

export function refuseAt(pointer: string, message: string): RepriseError {
  return invalidRequest([{ pointer, message }]);
}
