import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { PlainText } from "./PlainText.tsx";
import type * as written from "./written.tsx";

/** What makes elements of Markdown; null until it is loaded. */
const library = signal<typeof written | null>(null);

/** Loads it beside the first messages. Without it, texts are shown as they are. */
export async function loadMarkdown(): Promise<void> {
  library.value ??= await import("./written.tsx").catch(() => null);
}

interface TextProps {
  readonly text: string;
  /** True for an answer that arrives. */
  readonly isGrowing?: boolean;
}

/** What a model wrote, with its Markdown. */
export function Text({ text, isGrowing = false }: TextProps): JSX.Element {
  const loaded = library.value;
  if (loaded === null) {
    return <PlainText text={text} />;
  }
  return isGrowing ? <loaded.GrowingText text={text} /> : <loaded.WholeText text={text} />;
}
