import { useComputed, useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { Button } from "../parts/Button.tsx";
import type { MessageInfo } from "../../src/entries/client.ts";
import { place } from "../route.ts";
import { plural } from "./call-text.ts";
import type { Card } from "./exchange/card.ts";
import { isBusy } from "./exchange/ends.ts";
import { RowEnd } from "./exchange/RowEnd.tsx";
import { StepsHead } from "./exchange/StepsHead.tsx";
import { createOpenCards, type OpenCards } from "./exchange/open-cards.ts";
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
  const { drawn, cards, asked } = useMemo(
    () => ({ drawn: new Map<number, Row>(), cards: [] as Card[], asked: new Set<number>() }),
    [version, first],
  );
  const get = (seq: number): MessageInfo | undefined => {
    const message = model.messages.get(seq);
    if (message === undefined && seq >= first) {
      asked.add(seq);
    }
    return message;
  };
  const rowAt = (seq: number): Row => {
    const row = drawn.get(seq) ?? rowOf(seq, { get, first, last, cards });
    drawn.set(seq, row);
    return row;
  };
  const cardOf = (seq: number): Card | null => {
    const row = seq < first || seq > last ? null : rowAt(seq);
    return row === null || row.kind === "absent" ? null : row.card;
  };
  const isRunning = useComputed(() => isBusy(model)).value;
  const worked = isRunning ? (cardOf(last) ?? cardOf(last - 1)) : null;
  const openCards = createOpenCards(model, worked?.first ?? null);
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => {
    // what is asked for is what the cards in view begin and end with
    model.messages.want(
      Math.max(first, Math.min(first + from - READ_AHEAD, ...asked)),
      Math.min(last, Math.max(first + to + READ_AHEAD, ...asked)),
    );
  }, [from, to, first, last, version]);

  const isAtEnd = rows.isAtEnd(AT_END);
  useCloseAtEnd({
    openCards,
    worked,
    cardOf,
    isInUse: (card) => !isAtEnd || isUsed(scroller, card),
  });
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
      openCards.reveal(cardOf(shown));
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
            isHidden: (seq) => isHidden(rowAt(seq), seq, openCards),
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
                  <div {...stepAttributes(row, seq, openCards)}>
                    {row !== null && row.card?.first === seq ? (
                      <StepsHead
                        model={model}
                        card={row.card}
                        isOpen={openCards.isOpen(row.card)}
                        isRunning={row.card.first === worked?.first}
                        onToggle={() => openCards.toggle(row.card)}
                      />
                    ) : null}
                    {row?.kind === "hidden" || isClosed(row, openCards) ? null : (
                      <MessageRow model={model} row={row} total={last} />
                    )}
                  </div>
                  {row === null ? <LiveTail model={model} /> : <RowEnd model={model} seq={seq} />}
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

function isClosed(row: Row | null, { isOpen }: OpenCards): boolean {
  return row !== null && row.kind !== "absent" && row.card !== null && !isOpen(row.card);
}

/** True for a row without anything in it that a reader goes to. */
function isHidden(row: Row, seq: number, openCards: OpenCards): boolean {
  return row.kind === "hidden"
    ? !(row.card?.first === seq && isClosed(row, openCards))
    : row.kind === "message" && row.card?.first !== seq && isClosed(row, openCards);
}

/** The part of a card that a row shows. */
function stepAttributes(row: Row | null, seq: number, { isOpen }: OpenCards) {
  const card = row === null || row.kind === "absent" ? null : row.card;
  if (card === null || (!isOpen(card) && seq !== card.first)) {
    return {};
  }
  const begin = seq === card.first ? " begins" : "";
  const end = seq === card.last || !isOpen(card) ? " ends" : "";
  return { class: `step${begin}${end}`, "data-card": card.first };
}

interface Work {
  readonly openCards: OpenCards;
  /** The card of the work that runs. */
  readonly worked: Card | null;
  readonly cardOf: (seq: number) => Card | null;
  readonly isInUse: (card: Card) => boolean;
}

/** Closes a card when its exchange ends, unless a reader has it in view: nothing moves then. */
function useCloseAtEnd({ openCards, worked, cardOf, isInUse }: Work): void {
  const [before] = useState<{ first: number | null }>({ first: null });
  const ended =
    before.first === null || before.first === worked?.first ? null : cardOf(before.first);
  if (ended !== null && isInUse(ended)) {
    openCards.keepOpen(ended);
  }
  before.first = worked !== null && openCards.isOpen(worked) ? worked.first : null;
}

/** True while something of a card is open, selected or has the focus. */
function isUsed({ current: scroller }: RefObject<HTMLElement | null>, { first }: Card): boolean {
  const selected = getSelection();
  const isSelected =
    selected !== null && !selected.isCollapsed && scroller?.contains(selected.anchorNode) === true;
  const used = `[data-card="${first}"]:is(:focus-within, :has(details[open]))`;
  return isSelected || (scroller?.querySelector(used) ?? null) !== null;
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
