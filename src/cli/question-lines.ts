import { oneLine, visible } from "../core/terminal-text.ts";
import type { OpenQuestion } from "../store/questions/read.ts";

/** A question for a person; what a model wrote is made safe for a terminal. */
export function questionLines({ text, choices, effect, path, kind }: OpenQuestion): string[] {
  return [
    ...(path.length > 1 ? [`  a sub-agent asks: ${path.map(shortId).join(" > ")}`] : []),
    ...visible(text)
      .split("\n")
      .map((line) => `  ${line}`),
    ...(effect === null
      ? []
      : [`  ${kind === "permission" ? "Then" : "Effect"}: ${oneLine(effect)}`]),
    ...(choices ?? []).map((choice, index) => `  ${index + 1}. ${oneLine(choice)}`),
  ];
}

/** The choice that a person means, by its words in any case or by its number; null for none. */
export function choiceOf(choices: readonly string[], given: string): string | null {
  const words = given.toLowerCase();
  return (
    choices.find((choice) => choice === given) ??
    choices.find((choice) => choice.toLowerCase() === words) ??
    (/^\d+$/.test(given) ? choices[Number(given) - 1] : undefined) ??
    null
  );
}

function shortId(id: string): string {
  return id.slice(0, 8);
}
