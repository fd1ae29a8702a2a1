import type { CallRecord, TokenCounts, Usage } from "../../core/cost/model-calls.ts";

/** Tables of what the requests of models cost. */
export interface ModelCallTables {
  model_calls: ModelCallTable;
  model_usage: ModelUsageTable;
}

type Columns<T> = { -readonly [Name in keyof T]: T[Name] };

/** One request. A row is never changed. */
export interface ModelCallTable extends Columns<CallRecord> {
  session_id: string;
  /** The exchange; 0 outside of any, as for a summary that was asked for. */
  n: number;
  /** The lease under which it was made; 0 for an imported one. */
  epoch: number;
  /** From 1 under each lease. */
  call: number;
  /** When it was stored. */
  ts: string;
}

/** The sums of a session's requests, so that nobody has to add them up. */
export interface ModelUsageTable extends Columns<TokenCounts>, Columns<Usage> {
  session_id: string;
}
