/** One tool that a persona can be given. */
export interface ToolEntry {
  readonly name: string;
  /** True where doing it twice does no more than doing it once: it only reads. */
  readonly repeatable: boolean;
}

/**
 * The tools of an agent: those on the session's repository, and `delegate`, which finds the
 * sub-agent that it started before and so may be called again. Names are part of the persona format.
 */
export const SESSION_TOOLS = [
  { name: "read_file", repeatable: true },
  { name: "list_files", repeatable: true },
  { name: "find_files", repeatable: true },
  { name: "search_files", repeatable: true },
  { name: "write_file", repeatable: false },
  { name: "edit_file", repeatable: false },
  { name: "delegate", repeatable: true },
] as const satisfies readonly ToolEntry[];

export type SessionToolName = (typeof SESSION_TOOLS)[number]["name"];
