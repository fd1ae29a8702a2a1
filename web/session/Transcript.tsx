import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { Button } from "../parts/Button.tsx";
import { place } from "../route.ts";
import { plural } from "./call-text.ts";
import { LiveTail } from "./LiveTail.tsx";
import { MessageRow } from "./MessageRow.tsx";
import type { SessionModel } from "./model.ts";
import { moveInTranscript } from "./move.ts";
import { type Row, rowOf } from "./rows.ts";
import { AT_END, useRows } from "./use-virtual.ts";

/** Rows beyond those that are drawn whose messages are read ahead. */
const READ_AHEAD = 60;

/**
 * All messages of a session, of which only those in view are drawn. The row of a message has its `seq`; one more row, at
 * the end, is what happens now. It gets the next message's key, so that a text becomes its message in place.
 */
export function Transcript({ model }: { readonly model: SessionModel }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [first, last, version] = [model.first.value, model.last.value, model.version.value];
  const count = Math.max(0, last - first + 1) + 1;
  const rows = useRows({ scroller, count, first });
  const seen = useSignal(last);
  const hasFocus = useRef(false);
  /** The message that gets the focus once it is drawn. */
  const wantedFocus = useRef<number | null>(null);
  const items = rows.getVirtualItems();
  const drawn = useMemo(() => new Map<number, Row>(), [version, first]);
  const rowAt = (seq: number): Row => {
    const row = drawn.get(seq) ?? rowOf(seq, { get: model.messages.get, last });
    drawn.set(seq, row);
    return row;
  };
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => {
    model.messages.want(
      Math.max(first, first + from - READ_AHEAD),
      Math.min(last, first + to + READ_AHEAD),
    );
  }, [from, to, first, last]);

  const isAtEnd = rows.isAtEnd(AT_END);
  useEffect(() => {
    if (isAtEnd) {
      seen.value = last;
    }
  }, [isAtEnd, last]);
  const linked = linkedSeq(place.value.hash);
  const shown = linked === null || linked > last ? linked : shownAt(linked, { first, rowAt });
  useLayoutEffect(() => {
    if (linked !== null && linked > 0 && linked < first && last > 0) {
      model.showArchived();
    } else if (shown !== null && shown >= first && shown <= last) {
      rows.scrollToIndex(shown - first, { align: "start" });
    } else if (linked === null) {
      rows.scrollToEnd();
    }
  }, [shown, last > 0, linked !== null && linked < first]);

  const show = (seq: number): void => {
    const at = Math.min(Math.max(seq, first), last);
    const element = scroller.current?.querySelector<HTMLElement>(`[data-seq="${at}"]`);
    if (element === null || element === undefined) {
      wantedFocus.current = at;
      rows.scrollToIndex(at - first, { align: "auto" });
    } else {
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "nearest" });
    }
  };
  useLayoutEffect(() => {
    const { current } = scroller;
    if (!hasFocus.current || current === null) {
      return;
    }
    const wanted = current.querySelector<HTMLElement>(`[data-seq="${wantedFocus.current}"]`);
    if (wanted !== null) {
      wantedFocus.current = null;
      wanted.focus({ preventScroll: true });
    } else if (document.activeElement === document.body) {
      // the row that had the focus is no longer drawn: the keys still work
      current.focus({ preventScroll: true });
    }
  });
  return (
    <div class="transcript">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys of a feed, as ARIA describes them */}
      <div
        ref={scroller}
        class="transcript-scroller"
        role="feed"
        aria-label="Messages"
        aria-busy={items.some(
          ({ index }) => first + index <= last && rowAt(first + index).kind === "absent",
        )}
        tabIndex={0}
        onFocusIn={() => void (hasFocus.current = true)}
        onFocusOut={({ relatedTarget }) => {
          // without a next element, the row with the focus may just be gone
          hasFocus.current = relatedTarget === null && hasFocus.current;
        }}
        onPointerDown={() => void (hasFocus.current = false)}
        onKeyDown={(event) =>
          moveInTranscript(event, {
            first,
            last,
            inView: {
              from: first + (rows.range?.startIndex ?? 0),
              to: first + (rows.range?.endIndex ?? 0),
            },
            show,
            isHidden: (seq) => rowAt(seq).kind === "hidden",
            toEnd: () => {
              scroller.current?.focus({ preventScroll: true });
              rows.scrollToEnd();
            },
          })
        }
      >
        <div class="transcript-rows" style={{ height: `${rows.getTotalSize()}px` }}>
          <div
            class="transcript-window"
            style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          >
            {items.map(({ index, size }) => {
              const seq = first + index;
              const row = seq > last ? null : rowAt(seq);
              return row?.kind === "absent" ? (
                <div key={`absent ${seq}`} class="row-absent" style={{ height: `${size}px` }} />
              ) : (
                <div
                  key={seq}
                  ref={rows.measureElement}
                  data-index={index}
                  class={row === null ? "row live" : "row"}
                >
                  {row?.kind === "hidden" ? null : (
                    <MessageRow model={model} row={row} total={last} />
                  )}
                  {row === null ? <LiveTail model={model} /> : null}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {isAtEnd ? null : (
        <div class="transcript-end">
          <Button kind="primary" onClick={() => rows.scrollToEnd()}>
            {last > seen.value ? plural(last - seen.value, "new message") : "To the end"} ↓
          </Button>
        </div>
      )}
      {model.messages.error === null ? null : (
        <output class="transcript-problem">
          Messages could not be read. The page tries again every 2 s.
        </output>
      )}
    </div>
  );
}

/** The message that the address names: `#m123`. */
function linkedSeq(hash: string): number | null {
  const seq = /^#m(\d{1,15})$/.exec(hash)?.[1];
  return seq === undefined ? null : Number(seq);
}

/** The row that shows a message: a result is part of the row with its call. */
function shownAt(
  linked: number,
  { first, rowAt }: { readonly first: number; readonly rowAt: (seq: number) => Row },
): number {
  let seq = linked;
  while (seq > first && rowAt(seq).kind === "hidden") {
    seq -= 1;
  }
  return seq;
}
