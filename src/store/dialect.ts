import type { Expression, Kysely, RawBuilder } from "kysely";

import type { Database } from "./tables/database.ts";
import type { SearchDocumentTable } from "./tables/search.ts";

/** About 1,965 years: no time before year 1, whose text has no sign, or after year 9999. */
export const MAX_OFFSET_MS = 62_000_000_000_000;

/**
 * Words of SQL that differ between the engines. Operations use these instead of asking which engine they run on;
 * migrations use the `column` words.
 */
export interface Dialect {
  /**
   * The database's own clock, moved by some milliseconds, as ISO 8601 text in UTC. It is moved by
   * `MAX_OFFSET_MS` at most, so that the texts keep the order of the times.
   */
  now(offsetMs?: number | Expression<number>): RawBuilder<string>;
  /** True if one operation that writes begins only after the one before it has committed. */
  readonly writersQueue: boolean;
  /** Appended to a SELECT to hold the row until the transaction ends; empty if writers queue. */
  readonly forUpdate: RawBuilder<unknown>;
  /** Clause that locks rows, without those that another transaction holds. */
  readonly forUpdateOfFree: RawBuilder<unknown>;
  /** A query that holds a name until the transaction ends; null if writers queue anyway. */
  holdName(name: string): RawBuilder<unknown> | null;
  /** A text as JSON, with its quotes and escapes as `JSON.stringify` sets them; `null` for null. */
  jsonText(text: Expression<unknown>): RawBuilder<string>;
  /** Words for migrations. */
  readonly column: {
    /** 64-bit integer. */
    readonly integer: string;
    /** Text that is compared byte by byte. */
    readonly key: string;
    readonly bytes: string;
    /** A primary key that only grows and is never used again. */
    readonly serial: string;
    /** Expression: the current time as ISO 8601 text in UTC with milliseconds. */
    readonly now: string;
    /** Expression: a fresh random id. */
    readonly randomId: string;
    /** Expression: the text of a column with A to Z as small letters, for comparing byte by byte. */
    lowerCase(column: string): string;
  };
  /** Statements of the baseline: they number what changes. */
  readonly numberedChanges: readonly string[];
  /** Statements that number the changes of phases, for migration 3. */
  readonly numberedPhases: readonly string[];
  readonly numberedPins: readonly string[];
  /** For an UPDATE of `sessions` that runs often: the number of its change, if that costs less than the trigger. */
  readonly changeNumber: { readonly changed?: RawBuilder<number> };
  /** Index of the search. */
  readonly search: SearchIndex;
  /** Text after the closing parenthesis of CREATE TABLE. */
  readonly tableOptions: string;
  /** Options of a table with short rows that are found by their primary key: SQLite keeps them in its index. */
  readonly keyedTable: string;
}

/** An engine's index of documents by the trigrams in them. It may find a document that does not have the words, and misses none that has. */
export interface SearchIndex {
  /** Columns of `search_documents` besides, and the statements that make the index. */
  readonly columns: string;
  readonly statements: readonly string[];
  /** An expression: which server numbers the changes. Other numbers than those of the same one cannot be compared. */
  readonly server: RawBuilder<string>;
  /** Stores documents, ascending by their ids. */
  store(
    db: Kysely<Database>,
    documents: readonly (SearchDocumentTable & { readonly text: string })[],
  ): Promise<void>;
  /** Trigrams as what `find` takes. */
  match(grams: readonly string[]): string;
  /** A subquery: the last documents between two ids that may have all of the trigrams, in descending order. */
  find(given: {
    readonly match: string | Expression<string>;
    readonly after: number | Expression<number>;
    readonly before: number | Expression<number>;
    readonly limit: number | Expression<number>;
  }): RawBuilder<SearchDocumentTable>;
  /** Does a step of removing what is left of deleted documents; false if there is nothing more to do. */
  merge(db: Kysely<Database>, isFirst: boolean): Promise<boolean>;
}
