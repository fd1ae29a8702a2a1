/** Columns of `sessions` that a list shows, or that its `activity` follows from. Part of the baseline. */
export const LISTED_COLUMNS = [
  "state",
  "persona_name",
  "model",
  "repo_path",
  "project_key",
  "title",
  "plan_mode",
  "total_input_tokens",
  "total_output_tokens",
  "last_seq",
  "last_message_at",
  "ended_at",
  "lease_owner",
  "exchange_open",
  "name",
  "archived_at",
].join(", ");
