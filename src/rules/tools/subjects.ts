import { tasksDone, tasksIn } from "../../core/text/tasks.ts";

/**
 * Subjects of calls of the built-in tools, for a person. A model may send any JSON as arguments: a subject is null
 * for those that do not say it.
 */

/** The path of a call on one file. */
export function pathSubject(args: unknown): string | null {
  return textOf(args, "path");
}

/** The folder of a call on a folder, which is the top without one. */
export function folderSubject(args: unknown): string | null {
  return textOf(args, "path") ?? ".";
}

/** Returns what is searched, and where. */
export function searchSubject(wanted: "pattern" | "text"): (args: unknown) => string | null {
  return (args) => {
    const [what, folder] = [textOf(args, wanted), folderSubject(args)];
    return what === null || folder === "." ? what : `${what} in ${folder}`;
  };
}

/** The paths of a call that edits several files. */
export function editsSubject(args: unknown): string | null {
  const edits = fieldOf(args, "edits");
  return Array.isArray(edits) ? pathList(edits.map((edit: unknown) => textOf(edit, "path"))) : null;
}

/** The paths that a patch names. */
export function patchSubject(args: unknown): string | null {
  const lines = (textOf(args, "patch") ?? "").matchAll(
    /^\*\*\* (?:Update File|Add File|Delete File|Move to): *(.*)$/gm,
  );
  return pathList(Array.from(lines, ([, path = ""]) => path.trim()));
}

/** The title of a commit. */
export function commitSubject(args: unknown): string | null {
  return textOf(args, "message")?.split("\n", 1).join("") ?? null;
}

/** The question of a call that asks. */
export function questionSubject(args: unknown): string | null {
  return textOf(args, "question");
}

/** The persona of a sub-agent and its task. */
export function taskSubject(args: unknown): string | null {
  const [persona, task] = [textOf(args, "persona"), textOf(args, "task")];
  return task === null || persona === null ? task : `${persona}: ${task}`;
}

/** How far a to-do list is, and its task that runs: `2 of 5 done: fix the rounding`. */
export function tasksSubject(args: unknown): string | null {
  const tasks = tasksIn(args);
  const running = tasks?.find(({ state }) => state === "running");
  return tasks === null
    ? null
    : `${tasksDone(tasks)}${running === undefined ? "" : `: ${running.text}`}`;
}

function pathList(paths: readonly (string | null)[]): string | null {
  return paths.includes(null) ? null : [...new Set(paths)].join(", ");
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** A text that says something; null for another value. */
function textOf(value: unknown, key: string): string | null {
  const text = fieldOf(value, key);
  return typeof text === "string" && text !== "" ? text : null;
}
