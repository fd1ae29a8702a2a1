import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { Markdown } from "../parts/Markdown.tsx";
import { memo } from "../parts/memo.tsx";
import { createGrowingBlocks } from "./blocks.ts";

/** A text with Markdown that is complete. */
export const WholeText = memo(Markdown);

/** One that arrives: finished blocks are made once; only the last one is made again while the text grows. */
export function GrowingText({ text }: { readonly text: string }): JSX.Element {
  const blocks = useMemo(createGrowingBlocks, []);
  return (
    <>
      {blocks.read(text).map((piece, index) => (
        <WholeText key={index} text={piece} />
      ))}
    </>
  );
}
