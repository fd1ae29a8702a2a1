import type { ChangeNumber } from "./changes.ts";

/**
 * Index of the search. It follows from the other tables: no export and no copy has it, and it can be made again at any
 * time. The engine's own index is beside these tables: see `SearchIndex` of `dialect.ts`.
 */
export interface SearchTables {
  search_state: SearchStateTable;
  search_marks: SearchMarkTable;
  search_documents: SearchDocumentTable;
}

/** Table of one row. */
interface SearchStateTable {
  id: number;
  /** Every session whose last change has a lower number is in the index. */
  changed: ChangeNumber;
  /** The server whose numbers these are; empty on SQLite. */
  server: string;
  /** 1 after documents were deleted, until nothing of them is left in the index. */
  unmerged: number;
}

/** How far a session is indexed. */
interface SearchMarkTable {
  session_id: string;
  indexed_seq: number;
  /** The session's `changed` then. */
  changed: ChangeNumber;
  /** Hash of its name and title then. */
  labels: string;
}

/** A message; or, with the `seq` 0, the name and the title of a session. */
export interface SearchDocumentTable {
  /** See `documentNumber`. */
  id: number;
  session_id: string;
  seq: number;
}
