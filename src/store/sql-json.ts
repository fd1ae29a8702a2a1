import { type RawBuilder, sql } from "kysely";

import type { Dialect } from "./dialect.ts";

/**
 * Content of a column: text, which may be null; a number; 0 or 1; or the text of a JSON value, which is taken
 * unchanged.
 */
export type JsonColumn = "text" | "number" | "flag" | "json";

/**
 * The members of a JSON object, written by the database: `"id":"…","depth":0`, without the braces,
 * under the names of the columns and in their order. The same bytes as `JSON.stringify` writes.
 * To move each value into JavaScript and make it text again takes twice as long. `more`: further members, each with an
 * expression of its JSON; all are one text, because a text that is made of two is copied.
 */
export function jsonMembers(
  dialect: Dialect,
  columns: Readonly<Record<string, JsonColumn>>,
  more: Readonly<Record<string, RawBuilder<string>>> = {},
): RawBuilder<string> {
  const members = [
    ...Object.entries(columns).map(([name, holds]) => ({
      name,
      value: valueOf(dialect, name, holds),
    })),
    ...Object.entries(more).map(([name, value]) => ({ name, value })),
  ];
  const parts = members.flatMap(({ name, value }, index) => [
    sql.lit(`${index === 0 ? "" : ","}"${name}":`),
    value,
  ]);
  return sql`concat(${sql.join(parts)})`;
}

function valueOf(dialect: Dialect, name: string, holds: JsonColumn): RawBuilder<unknown> {
  const column = sql.ref(name);
  switch (holds) {
    case "text":
      return dialect.jsonText(column);
    case "number":
      return column;
    case "flag":
      return sql`case when ${column} = 1 then 'true' else 'false' end`;
    case "json":
      return sql`coalesce(${column}, 'null')`;
  }
}
