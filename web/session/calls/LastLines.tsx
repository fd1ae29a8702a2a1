import type { JSX } from "preact";

import { adoptStyle } from "../../adopt-style.ts";
import { visibleText } from "../act/visible-text.ts";
import { style } from "./last-lines.css";

adoptStyle(style);

/** Lines that are shown of what a call prints. */
const LINES_SHOWN = 8;

interface LastLinesProps {
  readonly text: string;
  readonly count?: number;
}

/** The last lines of a text, which may grow. Screen readers do not hear them as they come. */
export function LastLines({ text, count = LINES_SHOWN }: LastLinesProps): JSX.Element {
  // a line that is complete ends with a line break
  const begin = -count - (text.endsWith("\n") ? 1 : 0);
  return (
    <pre class="last-lines" dir="auto" aria-live="off">
      {visibleText(text.split("\n").slice(begin).join("\n"))}
    </pre>
  );
}
