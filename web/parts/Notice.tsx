import type { ComponentChildren, JSX } from "preact";

interface NoticeProps {
  /** `problem` is read out at once by a screen reader, the others when it has time. */
  readonly kind?: "hint" | "warning" | "problem";
  readonly children: ComponentChildren;
}

/** A sentence about the page's state, over its content. */
export function Notice({ kind = "hint", children }: NoticeProps): JSX.Element {
  return (
    <div class={`notice ${kind}`} role={kind === "problem" ? "alert" : "status"}>
      {children}
    </div>
  );
}
