import { SORTS, type PickerSort } from "./picked-sessions.ts";

/** Which sessions the picker offers. */
export interface PickerFilters {
  readonly state: (typeof STATES)[number];
  readonly folder: (typeof FOLDERS)[number];
  readonly archived: (typeof ARCHIVED)[number];
  readonly subagents: (typeof SUBAGENTS)[number];
}

const STATES = ["not ended", "running", "interrupted", "ended", "any"] as const;
const FOLDERS = ["any", "this folder"] as const;
const ARCHIVED = ["not archived", "archived", "any"] as const;
const SUBAGENTS = ["left out", "shown"] as const;

export const DEFAULT_FILTERS: PickerFilters = {
  state: "not ended",
  folder: "any",
  archived: "not archived",
  subagents: "left out",
};

/** A row of the menu: what it chooses, its value, and the values it can have. */
export interface FilterRow {
  readonly label: string;
  readonly value: string;
}

/** Choices that the menu changes. */
export interface Chosen {
  readonly filters: PickerFilters;
  readonly sort: PickerSort;
  /** Null for any. */
  readonly model: string | null;
}

export function filterRows({ filters, sort, model }: Chosen): FilterRow[] {
  return [
    { label: "State", value: filters.state },
    { label: "Folder", value: filters.folder },
    { label: "Model", value: model ?? "any" },
    { label: "Sub-agents", value: filters.subagents },
    { label: "Archive", value: filters.archived },
    { label: "Sort", value: sort },
  ];
}

export const FILTER_ROWS = 6;

/** The choice after a step in a row of the menu; `models` are those of the sessions that are known. */
export function stepped(
  chosen: Chosen,
  row: number,
  { step, models }: { readonly step: 1 | -1; readonly models: readonly string[] },
): Chosen {
  const { filters, sort, model } = chosen;
  switch (row) {
    case 0:
      return { ...chosen, filters: { ...filters, state: next(STATES, filters.state, step) } };
    case 1:
      return { ...chosen, filters: { ...filters, folder: next(FOLDERS, filters.folder, step) } };
    case 2:
      return { ...chosen, model: next([null, ...models], model, step) };
    case 3:
      return {
        ...chosen,
        filters: { ...filters, subagents: next(SUBAGENTS, filters.subagents, step) },
      };
    case 4:
      return {
        ...chosen,
        filters: { ...filters, archived: next(ARCHIVED, filters.archived, step) },
      };
    default:
      return { ...chosen, sort: next(SORTS, sort, step) };
  }
}

/** The value after another one, or before it; after the last one comes the first. */
export function next<Value>(values: readonly Value[], value: Value, step: 1 | -1 = 1): Value {
  const index = (values.indexOf(value) + step + values.length) % values.length;
  return values[index] ?? value;
}

/** Says what differs from the default, for one row; empty if nothing does. */
export function filterText({ filters, model }: Chosen): string {
  const { state, folder, archived, subagents } = filters;
  return [
    ...(state === DEFAULT_FILTERS.state ? [] : [state === "any" ? "in any state" : state]),
    ...(folder === DEFAULT_FILTERS.folder ? [] : [folder]),
    ...(archived === DEFAULT_FILTERS.archived
      ? []
      : [archived === "any" ? "archived ones too" : archived]),
    ...(subagents === DEFAULT_FILTERS.subagents ? [] : ["with sub-agents"]),
    ...(model === null ? [] : [model]),
  ].join(", ");
}
