import { visible } from "../../core/terminal-text.ts";

/** Lines of a message that a person is shown before it is sent, at its beginning and its end. */
const SHOWN_FIRST = 500;
const SHOWN_LAST = 100;
/** Characters of a line that are shown, and that a line editor keeps. */
const LINE_SHOWN = 2000;

/** Text as a terminal shows it before it is sent: every line, unless there are very many. */
export function shownDraft(text: string): string {
  const lines = text.split("\n").map(shownLine);
  const left = lines.length - SHOWN_FIRST - SHOWN_LAST;
  return (
    left <= 0
      ? lines
      : [...lines.slice(0, SHOWN_FIRST), `… ${left} more lines …`, ...lines.slice(-SHOWN_LAST)]
  ).join("\n");
}

function shownLine(line: string): string {
  return line.length <= LINE_SHOWN
    ? visible(line)
    : `${visible(line.slice(0, LINE_SHOWN))}… ${line.length - LINE_SHOWN} more characters …`;
}

/** Whether a line editor can hold the line: it draws what it holds as it is, and each time whole. */
export function isEditable(line: string): boolean {
  return line.length <= LINE_SHOWN && visible(line) === line && !line.includes("\t");
}

/** A backslash at the end, which no other one takes its meaning from. */
export function breaksLine(line: string): boolean {
  return (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;
}
