/**
 * Changes of tools in the file system. The bytes are not here: they are kept on the machine that has the folder. No
 * export has these rows, because they are of use only there.
 */
export interface FileChangeTable {
  session_id: string;
  /** From 1 in each session. */
  number: number;
  /** The exchange. */
  n: number;
  call_id: string;
  tool: string;
  /** The real path of the session's folder. */
  root: string;
  /** Below it, with `/`. */
  path: string;
  /** JSON of `Entry`; null if nothing is there. */
  entry_before: string | null;
  entry_after: string | null;
  /** `begun` before it takes effect, and still after a crash; `made` once it has. */
  state: "begun" | "made";
  /** The id of the folder that keeps the bytes; null if none does. */
  place: string | null;
  /** The session for which the machine keeps the bytes; null for the change's own. */
  kept_for: string | null;
  /** The name of the machine, for people. */
  host: string;
  ts: string;
  /** When it was taken back; null while it counts. */
  undone_at: string | null;
}
