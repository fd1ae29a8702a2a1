import type { Choice, GivenReply } from "../../src/core/questions.ts";

/** The reply that a person means with the words of a choice, or with a text if there are no choices. */
export function inWords(
  question: { readonly choices: readonly Choice[] | null } | undefined,
  words: string,
): GivenReply {
  const choices = question?.choices ?? null;
  return choices === null
    ? { text: words }
    : { choice: choices.find(({ label }) => label === words)?.id ?? words };
}
