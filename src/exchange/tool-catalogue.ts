/** One tool that a persona can be given. */
export interface ToolEntry {
  readonly name: string;
  /** True if doing it twice does no more than doing it once: it changes no file of the user. */
  readonly repeatable: boolean;
}

/** The tools on the session's repository. Names are part of the persona format. */
export const SESSION_TOOLS = [
  { name: "read_file", repeatable: true },
  { name: "list_files", repeatable: true },
  { name: "find_files", repeatable: true },
  { name: "search_files", repeatable: true },
  { name: "write_file", repeatable: false },
  { name: "edit_file", repeatable: false },
  { name: "multi_edit", repeatable: false },
  { name: "apply_patch", repeatable: false },
] as const satisfies readonly ToolEntry[];

/** Tools that do what several calls of others would do: what denies those, denies them. */
export const COMPOSED_OF: Readonly<Record<string, readonly string[]>> = {
  multi_edit: ["edit_file"],
  apply_patch: ["write_file", "edit_file"],
};

export type SessionToolName = (typeof SESSION_TOOLS)[number]["name"];

/** Runs a program in the session's folder. */
export const RUN_COMMAND = "run_command";

/** Commits changes in the session's folder. */
export const GIT_COMMIT = "git_commit";

/** Gives a task to a sub-agent. */
export const DELEGATE = "delegate";

/** The agent's question to its user. */
export const ASK_USER = "ask_user";

/** With it an agent hands in its plan, in planning mode only. */
export const HAND_IN_PLAN = "hand_in_plan";

/**
 * Every tool of an agent: those above, `run_command` among them; `delegate`, which finds the sub-agent that it began
 * before; `ask_user`, which finds the answer; and `hand_in_plan`, which finds the plan that it stored before.
 */
export const AGENT_TOOLS: readonly ToolEntry[] = [
  ...SESSION_TOOLS,
  { name: RUN_COMMAND, repeatable: false },
  { name: GIT_COMMIT, repeatable: false },
  { name: DELEGATE, repeatable: true },
  { name: ASK_USER, repeatable: true },
  { name: HAND_IN_PLAN, repeatable: true },
];

export const TOOL_NAMES: readonly string[] = AGENT_TOOLS.map(({ name }) => name);
