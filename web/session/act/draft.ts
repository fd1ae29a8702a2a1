import { keep, readKept } from "../../parts/kept.ts";

/** A message that was not stored yet. */
export interface Draft {
  readonly text: string;
  /** What the service knows it by since it was first sent: sent again, it is stored once. Null before. */
  readonly key: string | null;
}

const EMPTY: Draft = { text: "", key: null };

/** The draft of a session. It stays over a reload, until it is stored. */
export function readDraft(id: string): Draft {
  try {
    const kept: unknown = JSON.parse(readKept(`draft ${id}`) ?? "null");
    return isDraft(kept) ? kept : EMPTY;
  } catch {
    return EMPTY;
  }
}

export function keepDraft(id: string, draft: Draft): void {
  keep(`draft ${id}`, draft.text === "" ? null : JSON.stringify(draft));
}

function isDraft(value: unknown): value is Draft {
  return (
    typeof value === "object" &&
    value !== null &&
    "text" in value &&
    typeof value.text === "string" &&
    "key" in value &&
    (value.key === null || typeof value.key === "string")
  );
}
