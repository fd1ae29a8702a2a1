import { join } from "node:path";

import {
  APPLY_PATCH,
  DELEGATE,
  EDIT_FILE,
  FIND_FILES,
  LIST_FILES,
  MULTI_EDIT,
  READ_FILE,
  RUN_COMMAND,
  SEARCH_FILES,
  UPDATE_TASKS,
  WRITE_FILE,
} from "../../rules/tools/built-in.ts";
import { tasksIn, type TaskState } from "../../core/text/tasks.ts";
import { toolNames } from "../../rules/hooks/tool-names.ts";
import { shownCommand } from "../../workspace/commands/shown-command.ts";
import { type FilePatch, parsePatch } from "../tools/patch/parse-patch.ts";

/** A call as hooks see it. */
export interface CallView {
  /** Names that hooks match it by: our own, then those of Claude Code. */
  readonly names: readonly string[];
  /** Arguments as Claude Code's tool of the last names has them. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Files that the call names, as the model wrote them. */
  readonly paths: readonly string[];
}

export interface SeenCall {
  readonly name: string;
  readonly args: unknown;
}

/**
 * Returns a call as Claude Code's hooks know it ("PreToolUse input" of its hooks reference): `file_path` is absolute, a
 * command is a line. One that changes several files is seen once for each of them. A model may send any JSON.
 */
export function callViews(call: SeenCall, root: string): readonly CallView[] {
  const args = objectOf(call.args);
  const names = toolNames(call.name);
  const one = (input: CallView["input"], ...paths: string[]): readonly CallView[] => [
    { names, input, paths },
  ];
  const path = textOf(args["path"]);
  const file_path = absolute(root, path);
  switch (call.name) {
    case RUN_COMMAND.name:
      return one({ command: shownCommand(args), timeout: timeoutOf(args) });
    case WRITE_FILE.name:
      return one({ file_path, content: textOf(args["content"]) }, path);
    case EDIT_FILE.name:
      return one({ file_path, ...editOf(args) }, path);
    case MULTI_EDIT.name:
      return multiEditViews(names, args, root);
    case APPLY_PATCH.name:
      return patchViews(textOf(args["patch"]), root);
    case READ_FILE.name:
      return one({ file_path, offset: args["offset"], limit: args["limit"] }, path);
    case LIST_FILES.name:
      return one({ path: file_path }, path);
    case FIND_FILES.name:
      return one({ pattern: textOf(args["pattern"]), path: file_path });
    case SEARCH_FILES.name:
      return one({ pattern: textOf(args["text"]), path: file_path, glob: args["files"] });
    case DELEGATE.name:
      return one({ prompt: textOf(args["task"]), subagent_type: args["persona"] });
    case UPDATE_TASKS.name:
      return one({ todos: todosOf(args) });
    default:
      return one(args);
  }
}

function multiEditViews(
  names: readonly string[],
  args: Readonly<Record<string, unknown>>,
  root: string,
): readonly CallView[] {
  const edits = Array.isArray(args["edits"]) ? args["edits"].map(objectOf) : [];
  const files = [...new Set(edits.map((edit) => textOf(edit["path"])))];
  return files.map((path) => {
    const own = edits.filter((edit) => edit["path"] === path).map(editOf);
    const joined = (key: "old_string" | "new_string") => own.map((edit) => edit[key]).join("\n");
    const input = {
      file_path: absolute(root, path),
      edits: own,
      old_string: joined("old_string"),
      new_string: joined("new_string"),
    };
    return { names, input, paths: [path] };
  });
}

/** A patch that cannot be read changes nothing. */
function patchViews(patch: string, root: string): readonly CallView[] {
  let files: readonly FilePatch[] = [];
  try {
    files = parsePatch(patch);
  } catch {
    return [{ names: [APPLY_PATCH.name], input: { patch }, paths: [] }];
  }
  return files.flatMap((file) => {
    const to = file.kind === "update" ? file.to : null;
    return [file.path, ...(to === null ? [] : [to])].map((path) => ({
      names: [APPLY_PATCH.name, file.kind === "add" || path === to ? "Write" : "Edit"],
      input: { file_path: absolute(root, path), ...changeOf(file), patch },
      paths: [path],
    }));
  });
}

function changeOf(file: FilePatch): Readonly<Record<string, string>> {
  switch (file.kind) {
    case "add":
      return { content: file.content };
    case "delete":
      return { old_string: "", new_string: "" };
    case "update": {
      const lines = file.hunks.flatMap((hunk) => hunk.lines);
      const without = (mark: "-" | "+") =>
        lines.flatMap((line) => (line.mark === mark ? [] : line.text)).join("\n");
      return { old_string: without("+"), new_string: without("-"), content: without("-") };
    }
  }
}

/** As Claude Code's `TodoWrite` has a list; empty for arguments that our tool refuses. */
function todosOf(args: Readonly<Record<string, unknown>>) {
  return (tasksIn(args) ?? []).map(({ text, state }) => ({
    content: text,
    status: TODO_STATES[state],
    activeForm: text,
  }));
}

const TODO_STATES: Readonly<Record<TaskState, string>> = {
  pending: "pending",
  running: "in_progress",
  done: "completed",
};

function editOf(args: Readonly<Record<string, unknown>>) {
  return {
    old_string: textOf(args["old_text"]),
    new_string: textOf(args["new_text"]),
    replace_all: args["replace_all"] === true,
  };
}

function timeoutOf({ timeout_s }: Readonly<Record<string, unknown>>): number | undefined {
  return typeof timeout_s === "number" ? timeout_s * 1000 : undefined;
}

function absolute(root: string, path: string): string {
  return path.startsWith("/") ? path : join(root, path);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}
