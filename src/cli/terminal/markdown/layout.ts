import { visibleWidth } from "../pi/text.ts";
import type { Theme } from "../text/theme.ts";

/** A quote or an item of a list that is open; the root is always the first one. */
export interface Frame {
  readonly kind: "root" | "quote" | "item";
  /** Columns before the marker and before the content of an item. */
  readonly indent: number;
  readonly offset: number;
  /** As it is shown, with the space after it. */
  readonly marker: string;
  /** True once rows of it were printed. */
  isShown: boolean;
  /** The number of its last item, if all of them are written as 1. */
  ones: number;
}

export type Kind = "paragraph" | "heading" | "code" | "table" | "rule" | "item";

/** State that decides on the rows before a block. */
export interface Layout {
  frames: Frame[];
  /** A blank line was read since the last rows. */
  isBlank: boolean;
  /** Kind of the block that was printed last. */
  last: Kind | null;
}

/** Content has at least so many columns, or half of the row, whatever it is nested in. */
const MIN_COLUMNS = 16;
/** They are set apart from what comes before and after. */
const APART: ReadonlySet<Kind | null> = new Set(["heading", "code", "table", "rule"]);

export interface Place {
  readonly theme: Theme;
  /** Columns of the whole row. */
  readonly width: number;
}

/** Columns that the innermost frame leaves for content. */
export function columnsOf({ frames }: Layout, { width }: Place): number {
  return Math.max(1, width - sum(shownFrames(frames, width)));
}

/** Rows of a block, with what its frames put before them; `isMore` for more rows of the same block. */
export function placed(
  layout: Layout,
  place: Place,
  {
    kind,
    rows,
    isMore = false,
  }: { readonly kind: Kind; readonly rows: readonly string[]; readonly isMore?: boolean },
): string[] {
  if (rows.length === 0) {
    return [];
  }
  const inner = layout.frames.at(-1);
  const isApart = layout.last !== "heading" && (APART.has(kind) || APART.has(layout.last));
  const isOwn = isApart && !isMore && inner?.kind !== "item" && inner?.isShown === true;
  const hasGap = layout.last !== null && (layout.isBlank || isOwn);
  const gap = hasGap
    ? [
        startOf(
          layout.frames.filter(({ isShown }) => isShown),
          place,
        ).trimEnd(),
      ]
    : [];
  const placed = rows.map((row) => {
    const start = startOf(layout.frames, place);
    for (const frame of layout.frames) {
      frame.isShown = true;
    }
    return `${start}${row}`.trimEnd();
  });
  layout.isBlank = false;
  layout.last = kind;
  return [...gap, ...placed];
}

function startOf(frames: readonly Frame[], { theme, width }: Place): string {
  return shownFrames(frames, width)
    .map(({ kind, marker, isShown }) =>
      kind === "quote"
        ? theme.dim(marker)
        : isShown || marker === ""
          ? " ".repeat(visibleWidth(marker))
          : theme.accent(marker),
    )
    .join("");
}

/** Without the outer ones if the row is too narrow for all. */
function shownFrames(frames: readonly Frame[], width: number): readonly Frame[] {
  const min = Math.min(MIN_COLUMNS, Math.ceil(width / 2));
  const from = frames.findIndex((_, at) => width - sum(frames.slice(at)) >= min);
  return from < 0 ? [] : frames.slice(from);
}

function sum(frames: readonly Frame[]): number {
  return frames.reduce((total, { marker }) => total + visibleWidth(marker), 0);
}
