import {
  addTo,
  type ForeignPlan,
  onlyTask,
  paragraphs,
  type Problem,
  type ReadOptions,
  readFirst,
  splitTasks,
  type SplitTasks,
  unreadNotes,
} from "./foreign-plan.ts";
import { dependenciesInOrder, withNamed } from "./in-order.ts";
import { readWaves } from "./kiro-waves.ts";
import { namedBefore } from "./named-before.ts";
import {
  type CheckLine,
  dedented,
  isDone,
  type TaskLine,
  taskLines,
  titleOf,
} from "./task-lines.ts";

interface Heading {
  readonly line: number;
  /** Empty for one that says nothing of the tasks below it. */
  readonly text: string;
}

/** A task or a subtask. */
export interface KiroTask {
  readonly id: string;
  readonly line: number;
  readonly text: string;
  readonly details: string[];
  readonly isDone: boolean;
  readonly isOptional: boolean;
  /** cc-sdd's sign. */
  readonly isParallel: boolean;
  /** The heading above. */
  readonly section: Heading;
}

const TASK = /^(\d+(?:\.\d+){0,4})\.?(\*?)(?:[ \t]+(.*)|$)/;
const PARALLEL = /^\(P\)[ \t]*/;
/** Characters of the text of a task that each of its subtasks gets. */
const MAX_CONTEXT = 4000;
const DEPENDS = /^[ \t]*[-*+]?[ \t]*_Depends:\s*([^_]*)_/gim;

/**
 * Reads a `tasks.md` of Kiro, and of tools that write its form. Tasks run in their order, unless the file has a graph
 * of waves. A task with subtasks is done when they are, so only they become phases. Optional ones are left out.
 */
export function readKiro(text: string, { documents }: ReadOptions): ForeignPlan {
  const { tasks, fences, unread } = tasksIn(taskLines(text));
  const { byId, problems } = distinctTasks(tasks);
  const { open, left, crowd } = splitPhases([...byId.values()]);
  if (crowd !== null) {
    return crowd;
  }
  const graph = readWaves(fences, [...byId.values()]);
  const order = orderOf(open, graph.waves);
  const named = open.map((task) => [task, namedBefore(task, namesIn(task), byId)] as const);
  return {
    tasks: named.map(([task, { ids }]) => ({
      id: task.id,
      line: task.line,
      title: titleOf(task.text),
      instructions: instructionsOf(task, { byId, documents }),
      depends: withNamed(task.id, { order, named: ids }),
    })),
    left,
    notes: unreadNotes(unread, "1."),
    problems: [...problems, ...graph.problems, ...named.flatMap(([, found]) => found.problems)],
  };
}

/** Tasks by their numbers. One number is a problem if two tasks have it and one of them is open. */
function distinctTasks(tasks: readonly KiroTask[]): {
  readonly byId: Map<string, KiroTask>;
  readonly problems: Problem[];
} {
  const byId = new Map<string, KiroTask>();
  const problems: Problem[] = [];
  for (const task of tasks) {
    const other = byId.get(task.id);
    if (other === undefined) {
      byId.set(task.id, task);
    } else if (!task.isDone || !other.isDone) {
      const message = `${task.id} is the number of the task on line ${other.line}, too; give one of them another`;
      problems.push({ line: task.line, message });
    }
  }
  return { byId, problems };
}

function orderOf(
  open: readonly KiroTask[],
  waves: ReadonlyMap<string, number> | null,
): Map<string, readonly string[]> {
  const ordered = open
    .map((task) => ({
      id: task.id,
      isParallel: task.isParallel,
      block: `${task.section.line} ${parentOf(task.id)}`,
      wave: waves?.get(task.id),
    }))
    .toSorted((a, b) => (a.wave ?? 0) - (b.wave ?? 0));
  return dependenciesInOrder(ordered);
}

function tasksIn(lines: readonly TaskLine[]): {
  readonly tasks: KiroTask[];
  readonly fences: readonly Extract<TaskLine, { kind: "fence" }>[];
  /** Lines of open boxes without a number. */
  readonly unread: readonly number[];
} {
  const tasks: KiroTask[] = [];
  const unread: number[] = [];
  const fences: Extract<TaskLine, { kind: "fence" }>[] = [];
  let section: Heading = { line: 0, text: "" };
  let indent = -1;
  for (const line of lines) {
    const task = line.kind === "check" ? taskOf(line, section) : null;
    if (line.kind === "heading") {
      const says = line.level > 1 && !/^(?:implementation )?(?:tasks|plan)$/i.test(line.text);
      section = { line: line.line, text: says ? line.text : "" };
      indent = -1;
    } else if (task !== null) {
      tasks.push(task);
      indent = line.kind === "check" ? line.indent : -1;
    } else if (isBelow(line, indent)) {
      tasks.at(-1)?.details.push(detailOf(line));
    } else {
      indent = -1;
      if (line.kind === "check" && !isDone(line.mark)) {
        unread.push(line.line);
      }
    }
    if (line.kind === "fence") {
      fences.push(line);
    }
  }
  return { tasks, fences, unread };
}

function taskOf({ line, mark, starred, text }: CheckLine, section: Heading): KiroTask | null {
  const [, id, star = "", rest = ""] = TASK.exec(text) ?? [];
  if (id === undefined) {
    return null;
  }
  return {
    id,
    line,
    text: rest.replace(PARALLEL, ""),
    details: [],
    isDone: isDone(mark),
    isOptional: starred || star !== "",
    isParallel: PARALLEL.test(rest),
    section,
  };
}

/** True for a line that belongs to the task above it. */
function isBelow(line: TaskLine, indent: number): boolean {
  if (indent === -1 || line.kind === "heading") {
    return false;
  }
  return line.indent > indent || (line.kind === "text" && line.text.trim() === "");
}

function detailOf(line: TaskLine): string {
  return line.kind === "check"
    ? `${" ".repeat(line.indent)}- [${line.mark}] ${line.text}`
    : line.text;
}

function parentOf(id: string): string {
  return id.split(".").slice(0, -1).join(".");
}

/** Splits tasks whose work is not that of their subtasks. */
function splitPhases(tasks: readonly KiroTask[]): SplitTasks<KiroTask> {
  const children = new Map<string, KiroTask[]>();
  const optional = new Set<string>();
  for (const task of tasks) {
    addTo(children, parentOf(task.id), task);
    if (task.isOptional || optional.has(parentOf(task.id))) {
      optional.add(task.id);
    }
  }
  const hasSubtasks = ({ id }: KiroTask): boolean =>
    (children.get(id) ?? []).some(({ isOptional }) => !isOptional);
  return splitTasks(
    tasks.filter((task) => !hasSubtasks(task)),
    (task) => (task.isDone ? "done" : optional.has(task.id) ? "optional" : null),
  );
}

/** Tasks that the text of one names in `_Depends: 1.1, 2_`, as cc-sdd writes it. */
function namesIn({ details }: KiroTask): Set<string> {
  const lists = [...details.join("\n").matchAll(DEPENDS)].map(([, list = ""]) => list);
  return new Set(lists.flatMap((list) => list.match(/\d+(?:\.\d+)*/g) ?? []));
}

function instructionsOf(
  { id, text, details, section }: KiroTask,
  {
    byId,
    documents,
  }: { readonly byId: ReadonlyMap<string, KiroTask>; readonly documents: readonly string[] },
): string {
  const parent = byId.get(parentOf(id));
  const context =
    parent === undefined
      ? ""
      : [
          `It belongs to task ${parent.id}: ${parent.text}`,
          dedented(parent.details).slice(0, MAX_CONTEXT).toWellFormed(),
        ]
          .filter((each) => each !== "")
          .join("\n");
  return paragraphs(
    [text, dedented(details)].filter((each) => each !== "").join("\n"),
    context,
    section.text === "" ? "" : `It is listed under "${section.text}".`,
    ...readFirst(documents),
    onlyTask(id),
  );
}
