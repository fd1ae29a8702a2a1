import { plural } from "../../../core/text/text.ts";
import { visible } from "../../../core/text/terminal-text.ts";
import type { CallLog } from "./call-log.ts";
import { cutLine, foldLine } from "../text/fold.ts";
import type { Layout } from "./tool-rows.ts";

/** Rows of a message; of a longer one there is the head, and a row that says how to see the rest. */
const MAX_ROWS = 20;
const HEAD_ROWS = 10;

/** A message of the user, with the sign of the prompt. One that is too long gets a number in the log. */
export function userRows(text: string, { theme, width }: Layout, log: CallLog): string[] {
  const lines = visible(text).trimEnd().split("\n");
  const rows: string[] = [];
  let read = 0;
  for (const line of lines) {
    if (rows.length >= MAX_ROWS) {
      break;
    }
    // a row has one character a column at least
    rows.push(...foldLine(line.slice(0, MAX_ROWS * width * 2), width - 2));
    read += 1;
  }
  const isCut = rows.length > MAX_ROWS || read < lines.length;
  const shown = isCut ? rows.slice(0, HEAD_ROWS) : rows;
  const marked = shown.map((row, index) => `${index === 0 ? theme.accent(">") : " "} ${row}`);
  if (!isCut) {
    return marked;
  }
  const n = log.next();
  const [size, title] = [text.length, `Message of ${plural(lines.length, "line")}`];
  log.keep(n, { title, size, lines: () => lines });
  return [
    ...marked,
    `  ${theme.dim(cutLine(`… ${plural(lines.length, "line")} in all, /show ${n} shows them`, width - 2))}`,
  ];
}

/** A summary of earlier messages: one row, and a number in the log. */
export function summaryRows(text: string, { theme, width }: Layout, log: CallLog): string[] {
  const n = log.next();
  log.keep(n, {
    title: "Summary of earlier messages",
    size: text.length,
    lines: () => visible(text).split("\n"),
  });
  return [theme.dim(cutLine(`Earlier messages are summarised for the model  [${n}]`, width))];
}
