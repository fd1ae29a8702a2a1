import { plural } from "../../../core/text/text.ts";
import { shortCount } from "../text/amounts.ts";
import { cut, endOf, spread } from "../text/fit.ts";
import { visibleWidth, wrapTextWithAnsi } from "../pi/text.ts";
import type { PickerEntry } from "./picked-sessions.ts";
import { type Chosen, filterRows, filterText } from "./picker-filters.ts";
import { listRows, padded, type PickerList } from "./picker-list.ts";
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

export interface PickerState extends Chosen, PickerList {
  readonly query: string;
  readonly mode: PickerMode;
  /** Line about what a key did; empty for none. */
  readonly notice: string;
  /** Null while it is read. */
  readonly preview: Preview | null;
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
  const { entries, isSearching, more, selected, query, sort } = state;
  const count =
    entries.length === 0
      ? ""
      : `${Math.min(selected + 1, entries.length)} of ${entries.length}${more || isSearching ? "+" : ""}`;
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

/** Draws what is between the list and the keys: the preview, a question, a menu. */
function belowRows(state: PickerState, { width, height }: Size, theme: Theme): string[] {
  const { mode, notice, entries, selected } = state;
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
  const entry = entries[selected];
  const shown = height < 14 ? 0 : height < 20 ? 2 : Math.min(8, Math.floor(height / 3) - 1);
  return entry === undefined || shown === 0
    ? told
    : [rule, ...previewRows(entry, state, { width, height: shown }, theme), ...told];
}

function previewRows(
  { session, hit }: PickerEntry,
  { preview }: PickerState,
  { width, height }: Size,
  theme: Theme,
): string[] {
  const { state, messages, folder, model, tokens, id, archived } = session;
  const { origin } = session;
  const facts = [
    state,
    ...(origin === null ? [] : [`fork of ${origin.session_id.slice(0, 8)} at ${origin.seq}`]),
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
  if (hit !== null) {
    const command = theme.dim(`reprise sessions show ${id.slice(0, 8)} --at ${hit.seq}`);
    const text = wrapTextWithAnsi(hit.excerpt, width - 2).map((row) => `  ${row}`);
    return padded(
      [first, ...text.slice(0, Math.max(1, height - 2)), command].slice(0, height),
      height,
    );
  }
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
    "^B fork",
    "^T pin",
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
