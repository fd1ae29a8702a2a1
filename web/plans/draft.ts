import { signal } from "@preact/signals";

import { keep, readKept } from "../parts/kept.ts";

/** The text of a plan that the reader works on. */
export interface Draft {
  readonly text: string;
  /** The name of the file that it was read from; null if it was pasted or typed. */
  readonly name: string | null;
}

export type Syntax = "json" | "yaml";

const KEPT = "plan";

const EMPTY: Draft = { text: "", name: null };

/** The draft of this tab. It survives a reload. */
export const draft = signal<Draft>(storedDraft());

/** True if the browser could not keep the draft: a reload would lose it. */
export const isKept = signal(true);

export function changeDraft(next: Draft): void {
  // as a text field has them: positions count the same in both
  draft.value = { ...next, text: next.text.replaceAll(/\r\n?/g, "\n") };
  isKept.value = keep(KEPT, next.text === "" ? null : JSON.stringify(draft.value));
}

function storedDraft(): Draft {
  try {
    const value: unknown = JSON.parse(readKept(KEPT) ?? "null");
    return isDraft(value) ? { text: value.text, name: value.name } : EMPTY;
  } catch {
    return EMPTY;
  }
}

function isDraft(value: unknown): value is Draft {
  return (
    typeof value === "object" &&
    value !== null &&
    "text" in value &&
    typeof value.text === "string" &&
    "name" in value &&
    (value.name === null || typeof value.name === "string")
  );
}
