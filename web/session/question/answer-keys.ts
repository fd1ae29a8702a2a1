import type { RefObject } from "preact";

/** Fields in which a key is a letter. */
const FIELDS = "input, select, textarea, [contenteditable]";

/**
 * Calls `press` with a key that a person presses for the question around an element: `1` to `9`, or `n`. It is a letter
 * in a field, and nothing while a dialog or a menu is open, while it is held or pressed with Ctrl, Alt or Meta. Of
 * several questions, the one that has the focus is meant. Returns what ends it.
 */
export function onAnswerKey(
  element: RefObject<Element | null>,
  press: (key: string) => void,
): () => void {
  const hear = (event: KeyboardEvent): void => {
    const { key, target, repeat, ctrlKey, altKey, metaKey } = event;
    const isField = target instanceof Element && target.closest(FIELDS) !== null;
    const isCovered = document.querySelector("dialog[open], .menu[open]") !== null;
    const isKey = /^[1-9n]$/.test(key) && !repeat && !ctrlKey && !altKey && !metaKey;
    if (isKey && !isField && !isCovered && isMeant(element.current)) {
      event.preventDefault();
      press(key);
    }
  };
  document.addEventListener("keydown", hear);
  return () => document.removeEventListener("keydown", hear);
}

function isMeant(element: Element | null): boolean {
  const question = element?.closest(".question") ?? null;
  return (
    question !== null &&
    (question.contains(document.activeElement) ||
      document.querySelectorAll(".question").length === 1)
  );
}
