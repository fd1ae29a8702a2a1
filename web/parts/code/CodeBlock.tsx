import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";

import { CopyButton } from "../CopyButton.tsx";
import type * as highlighter from "./highlight.ts";

interface CodeBlockProps {
  readonly text: string;
  readonly language: string;
}

/** Characters of code that gets colours: the time of some languages grows with the square. */
const MAX_COLOURED = 20_000;
/** Code that still grows gets its colours when it rests for so long. */
const REST_MS = 250;

let library: typeof highlighter | null = null;

/** Lines of a program, unchanged, with colours once they are loaded. Its language is shown if there is one. */
export function CodeBlock({ text, language }: CodeBlockProps): JSX.Element {
  const coloured = useSignal<Coloured | null>(null);
  useLayoutEffect(() => {
    if (language === "" || text.length > MAX_COLOURED) {
      return undefined;
    }
    const colour = async (): Promise<void> => {
      // without the colours, the code is plain
      library ??= await import("./code-colors.ts").catch(() => null);
      const runs = library?.highlight(text, language.toLowerCase()) ?? null;
      coloured.value = runs === null ? null : { text, runs };
    };
    if (library !== null && coloured.peek() === null) {
      void colour();
      return undefined;
    }
    const timer = setTimeout(colour, library === null ? 0 : REST_MS);
    return () => clearTimeout(timer);
  }, [text, language]);
  const isCurrent = coloured.value?.text === text;
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={text} label="Copy this code" />
      </figcaption>
      {/* focusable, because it scrolls sideways */}
      <pre tabIndex={0} dir="ltr">
        <code>
          {isCurrent
            ? coloured.value?.runs.map(({ text: part, kind }, index) =>
                kind === null ? (
                  part
                ) : (
                  <span key={index} class={`code-${kind}`}>
                    {part}
                  </span>
                ),
              )
            : text}
        </code>
      </pre>
    </figure>
  );
}

interface Coloured {
  readonly text: string;
  readonly runs: readonly highlighter.Run[];
}
