import { MAX_ANSWER } from "../../../core/questions.ts";
import { isStorableText } from "../../../core/text/text.ts";
import { isCommand } from "../../chat/slash/slash.ts";

/** Why a text cannot be sent as an answer, or as the reason of a no; null if it can. */
export function problemOf(
  value: string,
  { isReason, pasted }: { readonly isReason: boolean; readonly pasted: boolean },
): string | null {
  if (value === "") {
    return isReason ? null : "Type an answer, or press Esc to leave the question open.";
  }
  if (value.length > MAX_ANSWER || !isStorableText(value)) {
    return `An answer has 1 to ${MAX_ANSWER} characters, without NUL; this one has ${value.length}.`;
  }
  return !isReason && !pasted && isCommand(value)
    ? "This is a command: press Esc, then type it."
    : null;
}
