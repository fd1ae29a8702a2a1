import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { Markdown } from "../parts/Markdown.tsx";
import { memo } from "../parts/memo.tsx";
import { createGrowingBlocks } from "./blocks.ts";
import { PlainText } from "./PlainText.tsx";

/** Characters of a block that is made again while it grows; a longer one is plain until it is complete. */
const MAX_GROWING = 20_000;

/** A text with Markdown that is complete. */
export const WholeText = memo(Markdown);

/** One that arrives: finished blocks are made once; only the last one is made again while the text grows. */
export function GrowingText({ text }: { readonly text: string }): JSX.Element {
  const blocks = useMemo(createGrowingBlocks, []);
  return (
    <>
      {blocks
        .read(text)
        .map((piece, index) =>
          piece.length > MAX_GROWING && !/^ {0,3}(?:```|~~~)/.test(piece) ? (
            <PlainText key={index} text={piece} />
          ) : (
            <WholeText key={index} text={piece} />
          ),
        )}
    </>
  );
}
