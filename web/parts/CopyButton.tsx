import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { Button } from "./Button.tsx";

/** How long the button says what happened. */
const SAID_MS = 2000;

/** Copies a text. Without the right to (plain http off loopback), it says so. */
export function CopyButton(props: { readonly text: string; readonly label: string }): JSX.Element {
  const said = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(props.text);
      said.value = "Copied";
    } catch {
      said.value = "The browser did not allow it";
    }
    setTimeout(() => {
      said.value = null;
    }, SAID_MS);
  };
  return (
    <Button kind="quiet" aria-label={said.value ?? props.label} onClick={() => void copy()}>
      {said.value ?? "Copy"}
    </Button>
  );
}
