import type { Dialect } from "../../dialect.ts";

/** Step of the database's history. Steps are only ever added, never edited once released. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** The statements of the step, run in one transaction. */
  statements(dialect: Dialect): readonly string[];
}
