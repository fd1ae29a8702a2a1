import type { ComponentChildren, JSX } from "preact";

import type { SessionModel } from "./model.ts";

interface FoldedProps {
  readonly model: SessionModel;
  /** What keeps it open while its row is not drawn. */
  readonly id: string;
  /** Key of the group that it may become part of: open with it, so that it stays in view. */
  readonly group?: string;
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
}

/** What a person opens when it is wanted. What is inside is made only then. */
export function Folded({ model, id, group = id, title, children }: FoldedProps): JSX.Element {
  const isOpen = model.opened.value.has(id);
  return (
    <details
      class="folded"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== model.opened.peek().has(id)) {
          const next = new Set(model.opened.peek());
          for (const key of [id, group]) {
            if (currentTarget.open) {
              next.add(key);
            } else {
              next.delete(key);
            }
          }
          model.opened.value = next;
        }
      }}
    >
      <summary>{title}</summary>
      {isOpen ? <div class="folded-body">{children}</div> : null}
    </details>
  );
}
