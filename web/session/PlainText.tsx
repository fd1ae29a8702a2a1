import type { JSX } from "preact";

/** A text as it is. */
export function PlainText({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="plain-text" dir="auto">
      {text}
    </div>
  );
}
