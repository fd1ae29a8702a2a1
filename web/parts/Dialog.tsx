import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

import { Button } from "./Button.tsx";
import { Icon } from "./icons.tsx";

interface DialogProps {
  readonly title: string;
  /** Called for Escape and the closing button; the dialog stays until it is removed. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** What has the focus first: a field, or the first of the answers, which changes nothing. */
const FIRST = ":is(input, select, textarea, .actions button):not(:disabled)";

/**
 * Asks for something before the rest of the page can be used. The browser keeps the focus inside, and returns it to
 * where it was. Show it to open it, remove it to close it.
 */
export function Dialog({ title, onClose, children }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>(FIRST)?.focus();
    // removed while open, the browser would leave the focus nowhere
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        // the key that opened it is still held: it must not press what has the focus now
        if (
          event.key === "Enter" &&
          event.repeat &&
          !(event.target instanceof HTMLTextAreaElement)
        ) {
          event.preventDefault();
        }
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <Button kind="quiet" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
