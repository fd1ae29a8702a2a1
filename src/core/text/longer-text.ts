import { type Choice, lastingRules } from "../questions.ts";

/** Names in one line the rules that longer answers keep; null if none is offered. */
export function longerText(choices: readonly Choice[] | null): string | null {
  const rules = lastingRules(choices);
  return rules === null ? null : `The longer answers count for ${rules.join(", ")}.`;
}
