import type { JSX } from "preact";

import { adoptStyle } from "../../adopt-style.ts";
import { style } from "./last-lines.css";

adoptStyle(style);

/** Lines that are shown of what a call prints. */
const LINES_SHOWN = 8;

/** The last lines of a text that grows. Screen readers do not hear them as they come. */
export function LastLines({ text }: { readonly text: string }): JSX.Element {
  return (
    <pre class="last-lines" dir="auto" aria-live="off">
      {text
        .split("\n")
        .slice(-LINES_SHOWN - 1)
        .join("\n")}
    </pre>
  );
}
