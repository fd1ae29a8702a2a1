import { useComputed, useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useEffect } from "preact/hooks";

import type { FindingInfo } from "../../src/entries/client.ts";
import { checked } from "./check.ts";
import { changeDraft, draft } from "./draft.ts";
import { countLines, rangeOf } from "./plan-text.ts";

export type EditorField = RefObject<HTMLTextAreaElement | null>;

/** As in plans.css: the line numbers are beside the lines. */
const LINE_HEIGHT = 20;
/** Lines above the one that is gone to. */
const ABOVE = 4;

/** The plan's text, with line numbers that mark the lines of findings. */
export function Editor({ field }: { readonly field: EditorField }): JSX.Element {
  const top = useSignal(0);
  const height = useSignal(400);
  useEffect(() => {
    const watched = new ResizeObserver(() => (height.value = field.current?.clientHeight ?? 400));
    if (field.current !== null) {
      watched.observe(field.current);
    }
    return () => watched.disconnect();
  }, []);
  return (
    <>
      <label class="plan-label" htmlFor="plan-text">
        Phase plan, as JSON or YAML
      </label>
      <div class="plan-editor">
        <Gutter top={top.value} height={height.value} />
        <textarea
          id="plan-text"
          ref={field}
          class="plan-text"
          dir="ltr"
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-describedby="plan-findings-title"
          placeholder="Paste a plan, or drop a file."
          value={draft.value.text}
          onInput={({ currentTarget }) =>
            changeDraft({ ...draft.value, text: currentTarget.value })
          }
          onScroll={({ currentTarget }) => (top.value = currentTarget.scrollTop)}
        />
      </div>
    </>
  );
}

/** Only the numbers in view: a text may have a hundred thousand lines. */
function Gutter({ top, height }: { readonly top: number; readonly height: number }): JSX.Element {
  const lines = useComputed(() => countLines(draft.value.text));
  const marks = useComputed(marksOf);
  const first = Math.floor(top / LINE_HEIGHT) + 1;
  const last = Math.min(lines.value, first + Math.ceil(height / LINE_HEIGHT));
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  return (
    <div
      class="plan-gutter"
      aria-hidden="true"
      style={{ width: `${`${lines.value}`.length + 3}ch` }}
    >
      <div style={{ transform: `translateY(${(first - 1) * LINE_HEIGHT - top}px)` }}>
        {numbers.map((line) => (
          <div key={line} class={marks.value.get(line)}>
            {line}
          </div>
        ))}
      </div>
    </div>
  );
}

function marksOf(): ReadonlyMap<number, "error" | "warning"> {
  const found = checked.value;
  const findings = found.state === "checked" ? found.report.findings : [];
  const marks = new Map<number, "error" | "warning">();
  for (const { line, severity } of findings) {
    if (marks.get(line) !== "error") {
      marks.set(line, severity);
    }
  }
  return marks;
}

/** Selects the text of a finding, scrolls to it and takes the focus there. */
export function goToFinding({ current: field }: EditorField, finding: FindingInfo): void {
  if (field === null) {
    return;
  }
  const [start, end] = rangeOf(field.value, finding);
  field.focus({ preventScroll: true });
  field.setSelectionRange(start, end);
  field.scrollTop = Math.max(0, (finding.line - 1 - ABOVE) * LINE_HEIGHT);
  field.scrollLeft = 0;
  field.scrollIntoView({ block: "nearest" });
}
