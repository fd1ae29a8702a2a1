import type { JSX } from "preact";

import type { CallState } from "./call-state.ts";

const MARKS = { running: "•", success: "✓", error: "✗", unknown: "–", unread: "…" } as const;
const WORDS = {
  running: "running",
  success: "done",
  error: "failed",
  unknown: "without a result",
  unread: "not read yet",
} as const;

/** How a call ended, as a sign and as a word for screen readers. */
export function CallMark({ state }: { readonly state: CallState }): JSX.Element {
  return (
    <span class="call-mark">
      <span aria-hidden="true">{MARKS[state]}</span>
      <span class="visually-hidden">{WORDS[state]}</span>
    </span>
  );
}
