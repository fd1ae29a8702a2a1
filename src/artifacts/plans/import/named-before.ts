import type { Problem } from "./foreign-plan.ts";

/** A task as far as others name it. */
interface NamedTask {
  readonly id: string;
  readonly line: number;
}

/** Returns the ids of the tasks before one that its text names, and a problem for each other name. */
export function namedBefore(
  { id, line }: NamedTask,
  names: ReadonlySet<string>,
  known: ReadonlyMap<string, NamedTask>,
): { readonly ids: string[]; readonly problems: Problem[] } {
  const ids: string[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const task = known.get(name);
    if (task === undefined) {
      problems.push({
        line,
        message: `${id} depends on ${name}, which is not in this file; correct it, or remove it`,
      });
    } else if (task.line >= line) {
      problems.push({
        line,
        message: `${id} depends on ${name}, which comes later (line ${task.line}); move it up`,
      });
    } else {
      ids.push(name);
    }
  }
  return { ids, problems };
}
