import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { Notice } from "./Notice.tsx";

/** A sentence about the connection to the service; null if all is well. */
export const connectionProblem = signal<string | null>(null);

/** What is wrong with the connection, below the head of every page. */
export function ConnectionNotice(): JSX.Element {
  return (
    <div aria-live="polite">
      {connectionProblem.value === null ? null : (
        <Notice kind="warning">{connectionProblem.value}</Notice>
      )}
    </div>
  );
}
