import { age } from "../../output/ages.ts";
import { visibleWidth } from "../pi/text.ts";
import { shortCount } from "../text/amounts.ts";
import { cell, endOf } from "../text/fit.ts";
import type { Theme } from "../text/theme.ts";
import {
  type PickedHit,
  type PickedSession,
  type PickerEntry,
  type Place,
  titleOf,
} from "./picked-sessions.ts";

/** Listed entries, and the selected one of them. */
export interface PickerList {
  /** The sessions that match, those of this folder first; then messages that do. */
  readonly entries: readonly PickerEntry[];
  /** Whether there may be more than are known. */
  readonly more: boolean;
  /** Whether messages may still be found. */
  readonly isSearching: boolean;
  /** The index of the entry that keys act on. */
  readonly selected: number;
  readonly now: number;
}

/** The list around the entry that keys act on. */
export function listRows(
  state: PickerList,
  { width, height }: { readonly width: number; readonly height: number },
  theme: Theme,
): string[] {
  const { entries, selected, more, isSearching } = state;
  if (entries.length === 0) {
    const sentence = more
      ? "Reading…"
      : isSearching
        ? "Searching messages…"
        : "No session matches. Ctrl-F changes the filter.";
    return padded([theme.dim(sentence)], height);
  }
  const lines = headedLines(entries);
  const at = lines.indexOf(selected);
  const top = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
  const rows = lines.slice(top, top + height).flatMap((line) => {
    if (typeof line === "string") {
      return [theme.accent(line)];
    }
    const entry = entries[line];
    const of = { now: state.now, isSelected: line === selected, width };
    return entry === undefined ? [] : [entryRow(entry, of, theme)];
  });
  return padded(rows, height);
}

const HEADINGS: Readonly<Record<Place, string>> = {
  pinned: "Pinned",
  here: "This folder",
  repository: "Other folders of this repository",
  elsewhere: "Other folders",
};

/** The indexes of entries, with a heading before the first of each group. */
function headedLines(entries: readonly PickerEntry[]): (string | number)[] {
  const lines: (string | number)[] = [];
  let before = "";
  for (const [index, { session, hit }] of entries.entries()) {
    const heading = hit === null ? HEADINGS[session.place] : "In messages";
    if (heading !== before) {
      lines.push(heading);
      before = heading;
    }
    lines.push(index);
  }
  return lines;
}

interface RowView {
  readonly now: number;
  readonly isSelected: boolean;
  readonly width: number;
}

function entryRow({ session, hit }: PickerEntry, view: RowView, theme: Theme): string {
  return hit === null ? sessionRow(session, view, theme) : hitRow({ session, hit }, view, theme);
}

/** Columns of the title before an excerpt. */
const HIT_TITLE = 22;

function hitRow(
  { session, hit }: { readonly session: PickedSession; readonly hit: PickedHit },
  { now, isSelected, width }: RowView,
  theme: Theme,
): string {
  const isWide = width >= WITH_STATE;
  const right = `  ${
    isWide
      ? age(now - hit.at).padStart(10)
      : age(now - hit.at)
          .replace(" ago", "")
          .padStart(8)
  }`;
  const title = isWide ? `${cell(titleOf(session), HIT_TITLE)}  ` : "";
  const text = cell(hit.short, Math.max(1, width - 2 - visibleWidth(title) - visibleWidth(right)));
  return isSelected
    ? theme.selected(`> ${title}${text}${right}`)
    : `  ${theme.dim(title)}${text}${theme.dim(right)}`;
}

/** The width from which on a row has the state. */
const WITH_STATE = 56;

/** Columns after the title: from which width on, and how wide. */
const COLUMNS = [
  {
    from: 76,
    width: 18,
    text: ({ folder, place }: PickedSession) =>
      place === "here" ? null : pathEnd(folder ?? "-", 18),
  },
  { from: 128, width: 22, text: ({ model }: PickedSession) => model },
  { from: 100, width: 11, text: ({ tokens }: PickedSession) => `${shortCount(tokens)} tokens` },
  { from: WITH_STATE, width: 11, text: ({ state }: PickedSession) => state },
] as const;

function sessionRow(
  session: PickedSession,
  { now, isSelected, width }: RowView,
  theme: Theme,
): string {
  const cells = COLUMNS.filter(({ from }) => width >= from).flatMap((column) => {
    const text = column.text(session);
    return text === null ? [] : [cell(text, column.width)];
  });
  const ago = age(now - session.usedAt);
  cells.push(width < WITH_STATE ? ago.replace(" ago", "").padStart(8) : ago.padStart(10));
  const right = cells.map((text) => `  ${text}`).join("");
  const nested = "  ".repeat(session.depth);
  const mark = [
    ...(session.isRun ? ["[plan] "] : []),
    ...(session.origin === null ? [] : ["[fork] "]),
    ...(session.archived ? ["[archived] "] : []),
  ].join("");
  const title = cell(
    `${nested}${mark}${titleOf(session)}`,
    Math.max(1, width - 2 - visibleWidth(right)),
  );
  return isSelected
    ? theme.selected(`> ${title}${right}`)
    : `  ${title}${width < WITH_STATE ? theme.dim(right) : styled(session, right, theme)}`;
}

function styled({ state }: PickedSession, text: string, theme: Theme): string {
  const styles: Readonly<Record<string, (text: string) => string>> = {
    running: theme.accent,
    waiting: theme.warning,
    interrupted: theme.warning,
    failed: theme.error,
  };
  return (styles[state] ?? theme.dim)(text);
}

/** Returns the end of a path, by which it is known. */
function pathEnd(path: string, columns: number): string {
  return visibleWidth(path) <= columns ? path : `…${endOf(path, columns - 1)}`;
}

/** Exactly so many rows. */
export function padded(rows: readonly string[], height: number): string[] {
  return Array.from({ length: height }, (_, index) => rows[index] ?? "");
}
