import { plural } from "../../../core/text/text.ts";
import { age } from "../../output/ages.ts";
import { shortCount } from "../text/amounts.ts";
import { cell, cut, endOf, spread } from "../text/fit.ts";
import { visibleWidth, wrapTextWithAnsi } from "../pi/text.ts";
import { type PickedSession, titleOf } from "./picked-sessions.ts";
import { type Chosen, filterRows, filterText } from "./picker-filters.ts";
import type { Preview } from "./picker-source.ts";
import type { Theme } from "../text/theme.ts";

/** Meaning of keys now. */
export type PickerMode =
  | { readonly kind: "list" }
  | { readonly kind: "name"; readonly id: string; readonly text: string }
  | { readonly kind: "filter"; readonly row: number }
  /** `lines` say what is deleted. */
  | { readonly kind: "delete"; readonly id: string; readonly lines: readonly string[] }
  /** Something is read or stored. */
  | { readonly kind: "busy"; readonly text: string };

export interface PickerState extends Chosen {
  /** The sessions that match, those of this folder first. */
  readonly sessions: readonly PickedSession[];
  /** Whether there may be more than are known. */
  readonly more: boolean;
  /** The index of the session that keys act on. */
  readonly selected: number;
  readonly query: string;
  readonly mode: PickerMode;
  /** Line about what a key did; empty for none. */
  readonly notice: string;
  /** Null while it is read. */
  readonly preview: Preview | null;
  readonly now: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The whole picker: exactly so many rows, none wider than the screen. */
export function pickerRows(state: PickerState, size: Size, theme: Theme): string[] {
  const { width, height } = size;
  const head = headRows(state, width, theme);
  const keys = keyRows(state, width, theme).slice(0, Math.max(1, Math.floor(height / 5)));
  const below = belowRows(state, size, theme);
  const left = height - head.length - keys.length;
  const lower = below.slice(0, Math.max(0, left - MIN_LISTED));
  const listed = Math.max(0, left - lower.length);
  const rows = [...head, ...listRows(state, { width, height: listed }, theme), ...lower, ...keys];
  return rows.slice(0, height).map((row) => cut(row, width));
}

/** Rows of the list that stay, whatever is below it. */
const MIN_LISTED = 3;

function headRows(state: PickerState, width: number, theme: Theme): string[] {
  const { sessions, more, selected, query, sort } = state;
  const count =
    sessions.length === 0
      ? ""
      : `${Math.min(selected + 1, sessions.length)} of ${sessions.length}${more ? "+" : ""}`;
  const right = width < WIDE_HEAD || count === "" ? count : `${sort}, ${count}`;
  const filter = filterText(state);
  const field = endOf(query, width - FIELD.length - 1);
  return [
    spread(theme.bold("Resume a session"), theme.dim(right), width),
    `${theme.accent(FIELD)}${field}${state.mode.kind === "list" ? cursor(theme) : ""}`,
    ...(filter === "" ? [] : [theme.warning(`Only: ${filter}`)]),
  ];
}

const WIDE_HEAD = 44;
const FIELD = "Search: ";

/** The list around the session that keys act on. */
function listRows(state: PickerState, { width, height }: Size, theme: Theme): string[] {
  const { sessions, selected, more } = state;
  if (sessions.length === 0) {
    const sentence = more ? "Reading…" : "No session matches. Ctrl-F changes the filter.";
    return padded([theme.dim(sentence)], height);
  }
  const here = sessions.findIndex(({ isHere }) => !isHere);
  const ofHere = here === -1 ? sessions.length : here;
  // a heading before the first of each group
  const firstOther = ofHere === 0 ? 0 : ofHere + 1;
  const total = sessions.length + (ofHere > 0 ? 1 : 0) + (ofHere < sessions.length ? 1 : 0);
  const lineOf = (index: number): number => index + (index < ofHere || ofHere === 0 ? 1 : 2);
  const top = Math.max(0, Math.min(lineOf(selected) - Math.floor(height / 2), total - height));
  const rows: string[] = [];
  for (let line = top; line < Math.min(total, top + height); line++) {
    if (line === 0 && ofHere > 0) {
      rows.push(theme.accent("This folder"));
    } else if (line === firstOther && ofHere < sessions.length) {
      rows.push(theme.accent("Other folders"));
    } else {
      const index =
        line - (line < firstOther || ofHere === 0 ? 1 : ofHere < sessions.length ? 2 : 1);
      const session = sessions[index];
      if (session !== undefined) {
        rows.push(sessionRow(session, { ...state, isSelected: index === selected, width }, theme));
      }
    }
  }
  return padded(rows, height);
}

/** The width from which on a row has the state. */
const WITH_STATE = 56;

/** Columns after the title: from which width on, and how wide. */
const COLUMNS = [
  {
    from: 76,
    width: 18,
    text: ({ folder, isHere }: PickedSession) => (isHere ? null : pathEnd(folder ?? "-", 18)),
  },
  { from: 128, width: 22, text: ({ model }: PickedSession) => model },
  { from: 100, width: 11, text: ({ tokens }: PickedSession) => `${shortCount(tokens)} tokens` },
  { from: WITH_STATE, width: 11, text: ({ state }: PickedSession) => state },
] as const;

function sessionRow(
  session: PickedSession,
  { now, isSelected, width }: { now: number; isSelected: boolean; width: number },
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
  const mark = `${session.isRun ? "[plan] " : ""}${session.archived ? "[archived] " : ""}`;
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

/** Draws what is between the list and the keys: the preview, a question, a menu. */
function belowRows(state: PickerState, { width, height }: Size, theme: Theme): string[] {
  const { mode, notice, sessions, selected } = state;
  const rule = theme.dim("─".repeat(width));
  switch (mode.kind) {
    case "name":
      return [rule, `Name: ${endOf(mode.text, width - 7)}${cursor(theme)}`];
    case "filter":
      return [
        rule,
        ...filterRows(state).map(({ label, value }, row) => {
          const text = `${row === mode.row ? ">" : " "} ${label.padEnd(12)}${value}`;
          return row === mode.row ? theme.selected(text) : text;
        }),
      ];
    case "delete":
      return [rule, ...mode.lines.flatMap((line) => wrapTextWithAnsi(line, width))];
    case "busy":
      return [rule, theme.dim(mode.text)];
    case "list":
      break;
  }
  const told =
    notice === "" ? [] : wrapTextWithAnsi(notice, width).map((row) => theme.warning(row));
  const session = sessions[selected];
  const shown = height < 14 ? 0 : height < 20 ? 2 : Math.min(8, Math.floor(height / 3) - 1);
  return session === undefined || shown === 0
    ? told
    : [rule, ...previewRows(session, state, { width, height: shown }, theme), ...told];
}

function previewRows(
  session: PickedSession,
  { preview }: PickerState,
  { width, height }: Size,
  theme: Theme,
): string[] {
  const { state, messages, folder, model, tokens, id, archived } = session;
  const facts = [
    state,
    ...(archived ? ["archived"] : []),
    plural(messages, "message"),
    ...(preview === null || preview.subagents === 0
      ? []
      : [plural(preview.subagents, "sub-agent")]),
    ...(folder === null ? [] : [folder]),
    model,
    `${shortCount(tokens)} tokens`,
    id.slice(0, 8),
  ];
  const first = theme.dim(cut(facts.join(" · "), width));
  const rows: string[] = [];
  for (const { role, text } of (preview?.messages ?? []).toReversed()) {
    const [start = "", second, third] = wrapTextWithAnsi(text, width - 2);
    const end = third === undefined ? second : cut(`${second}…`, width - 2);
    const block = [start, ...(end === undefined ? [] : [end])].map(
      (row, index) => `${index === 0 && role === "user" ? "› " : "  "}${row}`,
    );
    if (rows.length + 1 >= height) {
      break;
    }
    rows.unshift(...block.slice(0, height - 1 - rows.length));
  }
  return padded([first, ...rows], height);
}

const KEYS: Readonly<Record<PickerMode["kind"], readonly string[]>> = {
  list: [
    "Enter resume",
    "^R rename",
    "^A archive",
    "^D delete",
    "^S sort",
    "^F filter",
    "Esc leave",
  ],
  name: ["Enter store", "Esc cancel", "empty: the title again"],
  filter: ["↑↓ choose", "←→ change", "Enter close"],
  delete: ["y delete", "n keep"],
  busy: [],
};

/** The keys that mean something now, on as many rows as they need. */
function keyRows({ mode }: PickerState, width: number, theme: Theme): string[] {
  const rows: string[] = [];
  for (const key of KEYS[mode.kind]) {
    const last = rows.at(-1);
    if (last !== undefined && visibleWidth(last) + 2 + visibleWidth(key) <= width) {
      rows[rows.length - 1] = `${last}  ${key}`;
    } else {
      rows.push(key);
    }
  }
  return rows.map((row) => theme.dim(row));
}

function cursor(theme: Theme): string {
  return theme.name === "none" ? "_" : theme.selected(" ");
}

/** Returns the end of a path, by which it is known. */
function pathEnd(path: string, columns: number): string {
  return visibleWidth(path) <= columns ? path : `…${endOf(path, columns - 1)}`;
}

function padded(rows: readonly string[], height: number): string[] {
  return Array.from({ length: height }, (_, index) => rows[index] ?? "");
}
