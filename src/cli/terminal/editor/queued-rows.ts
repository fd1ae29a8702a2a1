import { oneLine } from "../../../core/text/terminal-text.ts";
import type { Message } from "./editor.ts";
import { cellText } from "../pi/text.ts";
import type { Theme } from "../text/theme.ts";

/** Rows of messages that wait. */
const MAX_QUEUED = 3;

/** The first messages that wait, how many more there are, and how to edit one. */
export function queuedRows(
  messages: readonly Message[],
  { theme, width }: { readonly theme: Theme; readonly width: number },
): string[] {
  const rows = messages
    .slice(0, MAX_QUEUED)
    .map(({ text }) => theme.dim(cellText.cut(`  waits: ${oneLine(text.slice(0, 500))}`, width)));
  const more = messages.length - rows.length;
  return [
    ...rows,
    ...(more > 0 ? [theme.dim(`  … and ${more} more`)] : []),
    ...(messages.length > 0 ? [theme.dim(cellText.cut("  Up edits the last one", width))] : []),
  ];
}
