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
    ...(choices === null ? [] : [`  Choices: ${choices.map(oneLine).join(" | ")}`]),
  ];
}

function shortId(id: string): string {
  return id.slice(0, 8);
}
