import { oneLine } from "../../core/terminal-text.ts";
import { DEMO_LABEL } from "./demo-answer.ts";

const QUOTED = 80;
/** Newest messages that a summary quotes: it has to be shorter than what it stands for. */
const LISTED = 30;

const TITLE = `${DEMO_LABEL} Summary. The user wrote:`;
const QUOTE = /^- (.*)$/gm;

/** What the demo makes of a conversation that it is to summarise: the user's words, shortened. */
export function demoSummary(material: string): string {
  const quotes = [...(quotesIn(material) ?? []), ...material.split("\n").flatMap(userText)];
  return [TITLE, ...quotes.slice(-LISTED).map((quote) => `- ${quote}`)].join("\n");
}

/** What the user wrote by the demo's own summary in a text; null where there is none. */
export function quotesIn(text: string): string[] | null {
  const start = text.indexOf(TITLE);
  if (start === -1) {
    return null;
  }
  const end = text.indexOf("\n</summary", start);
  const summary = text.slice(start, end === -1 ? undefined : end);
  return [...summary.matchAll(QUOTE)].map(([, quote = ""]) => quote);
}

/** Nothing for a line that is no message of the user. */
function userText(line: string): string[] {
  if (!line.startsWith('{"role":"user"')) {
    return [];
  }
  const { text } = JSON.parse(line) as { readonly text: string };
  return [
    oneLine(
      Array.from(text.slice(0, QUOTED * 2))
        .slice(0, QUOTED)
        .join(""),
    ),
  ];
}
