import type { FieldTable, FieldTypes, FieldValues } from "../core/sessions.ts";
import type { JsonColumn } from "./sql-json.ts";

type ColumnName<T extends FieldTable> = {
  [Name in keyof T]: T[Name] extends "activity" ? never : Name;
}[keyof T];

/** The columns of a table's fields; `activity` is none. */
export function columnNames<T extends FieldTable>(fields: T): ColumnName<T>[] {
  return Object.keys(fields).filter((name) => fields[name] !== "activity") as ColumnName<T>[];
}

/** Makes the fields of a row; `computed` has those that are more than their column. */
export function fieldReader<T extends FieldTable, Row extends object>(
  fields: T,
  computed: { readonly [Name in keyof T]?: (row: Row) => FieldValues<T>[Name] },
): (row: Row) => FieldValues<T> {
  const readers = Object.entries(fields).map(([name, kind]) => {
    const read = computed[name];
    return { name, read, isFlag: kind === "flag", isJson: kind === "fallback?" };
  });
  return (row) => {
    const values = row as Readonly<Record<string, unknown>>;
    const result: Record<string, unknown> = {};
    for (const { name, read, isFlag, isJson } of readers) {
      const value = read === undefined ? values[name] : read(row);
      result[name] = isFlag ? value === 1 : isJson ? jsonIn(value) : value;
    }
    return result as FieldValues<T>;
  };
}

function jsonIn(value: unknown): unknown {
  return typeof value === "string" ? JSON.parse(value) : value;
}

/** How the database writes the columns as JSON. */
export function jsonColumns(fields: FieldTable): Record<string, JsonColumn> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, kind]) => [name, JSON_COLUMNS[kind] ?? "text"]),
  );
}

const JSON_COLUMNS: { readonly [Kind in keyof FieldTypes]?: JsonColumn } = {
  count: "number",
  "count?": "number",
  position: "number",
  flag: "flag",
  "calls?": "json",
  "fallback?": "json",
};
