import type { ContextParts } from "../../../exchange/exchanger.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { noticeLine } from "../../process/context.ts";
import type { SlashContext } from "./slash-context.ts";

const PARTS: readonly (readonly [keyof ContextParts, string])[] = [
  ["prefix", "instructions and tools"],
  ["summary", "summary of older messages"],
  ["user", "your messages"],
  ["answers", "answers and calls"],
  ["results", "results of tools"],
];

/** `/context`: how full the context of the model is, and what fills it. */
export async function contextSlash({ cli, conversation }: SlashContext): Promise<void> {
  const use = await conversation.contextUse();
  if (use === null) {
    noticeLine(cli, "Nothing is known of the context yet: send a message first.");
    return;
  }
  const { tokens, window, isFull, parts } = use;
  const model = oneLine(conversation.planned().model ?? "the default");
  noticeLine(
    cli,
    `Context: about ${shown(tokens)} of ${shown(window)} tokens (${percent(tokens, window)}) of ${model}`,
  );
  const filled = PARTS.filter(([name]) => Math.round(parts[name]) > 0);
  const widest = Math.max(0, ...filled.map(([name]) => shown(parts[name]).length));
  for (const [name, words] of filled) {
    const count = shown(parts[name]).padStart(widest);
    noticeLine(cli, `  ${words.padEnd(26)}${count}  ${percent(parts[name], window).padStart(4)}`);
  }
  noticeLine(
    cli,
    isFull
      ? "The next exchange first summarises older messages."
      : "/compact summarises older messages; by itself that happens before the context is full.",
  );
}

function shown(tokens: number): string {
  return Math.round(tokens).toLocaleString("en");
}

function percent(part: number, whole: number): string {
  return `${Math.round((part / whole) * 100)} %`;
}
