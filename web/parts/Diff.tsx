import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { Button } from "./Button.tsx";
import { type DiffLine, diffLines } from "./diff-lines.ts";

/** Lines that are shown at first. */
const LINES_SHOWN = 400;

interface DiffProps {
  readonly diff: string;
  /** True for all lines at once, those that are not of a file too: what a person says yes to. */
  readonly isWhole?: boolean;
}

/** A unified diff of one file: both line numbers, the sign of each line, and the text as it is. */
export function Diff(props: DiffProps): JSX.Element {
  const { diff, isWhole: keepsAll = false } = props;
  const lines = useMemo(() => diffLines(diff, { keepsAll }), [diff, keepsAll]);
  const isWhole = useSignal(keepsAll);
  const shown = isWhole.value ? lines : lines.slice(0, LINES_SHOWN);
  return (
    <>
      {/* focusable, because it scrolls sideways; a group, because a page may show many and a landmark has to be unique */}
      <fieldset class="diff" tabIndex={0} aria-label="Changed lines" dir="ltr">
        <table>
          <tbody>
            {shown.map((line, index) => (
              <DiffRow key={index} line={line} />
            ))}
          </tbody>
        </table>
      </fieldset>
      {shown.length < lines.length ? (
        <Button kind="quiet" onClick={() => void (isWhole.value = true)}>
          Show all {lines.length.toLocaleString("en")} lines
        </Button>
      ) : null}
    </>
  );
}

const MEANINGS = { "+": "added", "-": "removed", " ": "same" } as const;

function DiffRow({ line }: { readonly line: DiffLine }): JSX.Element {
  const { sign, before, after, text } = line;
  return (
    <tr class={sign === null ? "note" : MEANINGS[sign]}>
      <td class="number">{before}</td>
      <td class="number">{after}</td>
      <td class="sign">{sign === " " ? "" : sign}</td>
      <td class="line">{text}</td>
    </tr>
  );
}
