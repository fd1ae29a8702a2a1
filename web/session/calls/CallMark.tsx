import type { JSX } from "preact";

import type { CallState } from "./call-state.ts";

const MARKS = {
  running: "•",
  ok: "✓",
  failed: "✗",
  denied: "✗",
  not_run: "✗",
  unknown: "–",
  unread: "…",
} as const;
const WORDS = {
  running: "running",
  ok: "done",
  failed: "failed",
  denied: "denied",
  not_run: "not run",
  unknown: "without a known end",
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
