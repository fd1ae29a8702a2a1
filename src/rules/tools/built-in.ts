import { type Tool, ToolSet } from "../../core/tools.ts";
import { TASKS_TOOL } from "../../core/text/tasks.ts";
import { shownCommand } from "../../workspace/commands/shown-command.ts";
import {
  commitSubject,
  editsSubject,
  folderSubject,
  patchSubject,
  pathSubject,
  questionSubject,
  searchSubject,
  taskSubject,
  tasksSubject,
} from "./subjects.ts";

/** Tools that read files of the session's folder. */
export const READ_FILE = reading("read_file", pathSubject);
export const LIST_FILES = {
  ...reading("list_files", folderSubject),
  readsNamesOnly: true,
} as const;
export const FIND_FILES = {
  ...reading("find_files", searchSubject("pattern")),
  readsNamesOnly: true,
} as const;
export const SEARCH_FILES = reading("search_files", searchSubject("text"));

/** Tools that change them. */
export const WRITE_FILE = changing("write_file", pathSubject);
export const EDIT_FILE = changing("edit_file", pathSubject);
export const MULTI_EDIT: Tool = {
  ...changing("multi_edit", editsSubject),
  composedOf: [EDIT_FILE],
};
export const APPLY_PATCH: Tool = {
  ...changing("apply_patch", patchSubject),
  composedOf: [WRITE_FILE, EDIT_FILE],
};

/** Runs a program in the session's folder. */
export const RUN_COMMAND: Tool = {
  name: "run_command",
  effect: "runs",
  repeatable: false,
  about: "commands",
  subject: shownCommand,
};

/** Commits changes in the session's folder. */
export const GIT_COMMIT: Tool = {
  name: "git_commit",
  effect: "changes",
  repeatable: false,
  subject: commitSubject,
};

/** Gives a task to a sub-agent; a call that runs again finds the one that it began before. */
export const DELEGATE: Tool = { ...asking("delegate"), subject: taskSubject };

/** The agent's question to its user; a call that runs again finds the answer. */
export const ASK_USER: Tool = { ...asking("ask_user"), subject: questionSubject };

/** Replaces the agent's to-do list, which is nothing of the user's. */
export const UPDATE_TASKS = {
  name: TASKS_TOOL,
  effect: "reads",
  repeatable: true,
  subject: tasksSubject,
} as const;

/** Hands in a plan, in planning mode only; a call that runs again finds the one that it stored before. */
export const HAND_IN_PLAN = asking("hand_in_plan");

/** Hands in the artifact of a phase of a run; a call that runs again finds the file that it wrote before. */
export const HAND_IN: Tool = { ...asking("hand_in"), isAssigned: true };

/** The tools of the built-in agent. Their names are part of the persona format. */
export const BUILT_IN_TOOLS = new ToolSet([
  READ_FILE,
  LIST_FILES,
  FIND_FILES,
  SEARCH_FILES,
  WRITE_FILE,
  EDIT_FILE,
  MULTI_EDIT,
  APPLY_PATCH,
  RUN_COMMAND,
  GIT_COMMIT,
  DELEGATE,
  ASK_USER,
  UPDATE_TASKS,
  HAND_IN_PLAN,
]);

type Subject = NonNullable<Tool["subject"]>;

function reading(name: string, subject: Subject): Tool {
  return { name, effect: "reads", repeatable: true, about: "files", subject };
}

function changing(name: string, subject: Subject): Tool {
  return { name, effect: "changes", repeatable: false, about: "files", subject };
}

function asking(name: string): Tool {
  return { name, effect: "asks", repeatable: true };
}
