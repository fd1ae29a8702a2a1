import type { ComponentChildren, JSX } from "preact";

import { CopyButton } from "../parts/CopyButton.tsx";

/** A command that helps, and what it is for. */
export function Command(props: {
  readonly text: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="command">
      <span>{props.children}</span> <code dir="ltr">{props.text}</code>{" "}
      <CopyButton text={props.text} label="Copy the command" />
    </div>
  );
}
