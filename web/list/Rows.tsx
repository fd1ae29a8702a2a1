import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { Row } from "./Row.tsx";
import type { ListRow } from "./rows.ts";
import type { ListSource } from "./source.ts";
import { useWindowRows } from "./use-window-rows.ts";

interface RowsProps {
  readonly source: ListSource;
  readonly onAct: (row: ListRow) => void;
}

/**
 * The sessions as a list of any length. Tab reaches one row, the arrow keys the others: up and down, right and left for
 * sub-agents, Home and End. Enter opens the session.
 */
export function Rows({ source, onAct }: RowsProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const rows = source.rows.value;
  const active = useSignal<string | null>(null);
  const virtual = useWindowRows({
    element: list,
    count: rows.length,
    keyOf: (index) => rows[index]?.session.id ?? "",
    kept: rows.findIndex(({ session }) => session.id === active.value),
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? -1;
  const isComplete = source.isComplete.value;
  const isReading = source.isReading.value;
  useEffect(() => {
    if (
      lastShown >= rows.length - NEAR_END &&
      !isComplete &&
      !isReading &&
      source.problem.value === null
    ) {
      void source.readMore();
    }
  }, [lastShown, rows.length, isComplete, isReading]);

  const focusOn = (index: number): void => {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
    if (row === undefined) {
      return;
    }
    active.value = row.session.id;
    virtual.scrollToIndex(rows.indexOf(row), { align: "auto" });
    // it may be made only after the scroll
    requestAnimationFrame(() => linkOf(list.current, rows.indexOf(row))?.focus());
  };

  const onKeyDown = (event: KeyboardEvent, index: number, row: ListRow): void => {
    const { id } = row.session;
    const parent = row.session.parent_session_id;
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => focusOn(index + 1),
      ArrowUp: () => focusOn(index - 1),
      Home: () => focusOn(0),
      End: () => focusOn(rows.length - 1),
      ArrowRight: () => {
        if (row.children > 0 && !row.isOpen) {
          source.toggle(id, true);
        } else if (row.isOpen) {
          focusOn(index + 1);
        }
      },
      ArrowLeft: () => {
        if (row.isOpen) {
          source.toggle(id, false);
        } else if (row.level > 1) {
          focusOn(rows.findIndex(({ session }) => session.id === parent));
        }
      },
    };
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      move();
    }
  };

  // Tab reaches a row that is there: the one that had the focus last, else the first
  const known = rows.some(({ session }) => session.id === active.value);
  const tabbable = known ? active.value : rows[0]?.session.id;
  return (
    <ul
      ref={list}
      class="session-rows"
      aria-label="Sessions"
      style={{ height: `${virtual.getTotalSize()}px` }}
    >
      {items.map(({ index, start, key }) => {
        const row = rows[index];
        return row === undefined ? null : (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            aria-setsize={isComplete ? rows.length : -1}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            <Row
              row={row}
              keys={{
                tabIndex: row.session.id === tabbable ? 0 : -1,
                onFocus: () => {
                  active.value = row.session.id;
                },
                onKeyDown: (event) => onKeyDown(event, index, row),
              }}
              onToggle={() => source.toggle(row.session.id, !row.isOpen)}
              onAct={() => onAct(row)}
            />
          </li>
        );
      })}
    </ul>
  );
}

/** So many rows before the end of what is read, the page that follows is read. */
const NEAR_END = 40;

function linkOf(list: HTMLElement | null, index: number): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-index="${index}"] .row-title`) ?? null;
}
