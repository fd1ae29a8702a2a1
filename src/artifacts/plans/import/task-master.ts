import { quote } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import { createLineIndex, type LineIndex } from "../../line-index.ts";
import { readSource } from "../../sources/read-source.ts";
import { type ObjectNode, type SourceNode, withoutMark } from "../../sources/source.ts";
import { findCycles } from "../cycles.ts";
import {
  addTo,
  type ForeignPlan,
  type ForeignTask,
  paragraphs,
  type Problem,
  type ReadOptions,
  readFirst,
  splitTasks,
} from "./foreign-plan.ts";
import { titleOf } from "./task-lines.ts";
import {
  DONE,
  idIn,
  idOf,
  itemsIn,
  labelled,
  OPEN,
  PUT_OFF,
  reasonOf,
  textIn,
} from "./task-master-fields.ts";
import { stepsOf } from "./task-master-steps.ts";

/** Task as the file has it. */
interface MasterTask {
  readonly id: string;
  readonly node: ObjectNode;
  readonly line: number;
  readonly status: string;
  /** As the file names them, with their lines. */
  readonly depends: readonly { readonly name: string; readonly line: number }[];
}

/** Tag of the tasks of which nobody chose another. */
const MAIN = "master";

/**
 * Reads a `tasks.json` of Task Master, with or without tags. A task is a phase; its subtasks are steps in its
 * instructions. Done, cancelled and deferred tasks are left out.
 */
export function readTaskMaster(text: string, options: ReadOptions): ForeignPlan {
  const source = withoutMark(text);
  const lines = createLineIndex(source);
  const { root, findings } = readSource(source, { syntax: "json", lines });
  const errors = findings.map(({ line, message }) => ({ line, message }));
  if (root === null || errors.length > 0) {
    return nothing(errors);
  }
  const notes: string[] = [];
  const list = listOf(root, { tag: options.tag, notes, lines });
  return "message" in list ? nothing([list]) : planOf(list.items, { lines, notes, options });
}

function nothing(problems: readonly Problem[]): ForeignPlan {
  return { tasks: [], left: new Map(), notes: [], problems };
}

/** Finds the list of tasks, that of a tag if the file has tags. */
function listOf(
  root: SourceNode,
  {
    tag,
    notes,
    lines,
  }: { readonly tag: string | undefined; readonly notes: string[]; readonly lines: LineIndex },
): { readonly items: readonly SourceNode[] } | Problem {
  const { line } = lines(root.start);
  const plain = tasksOf(root);
  if (plain !== null && tag === undefined) {
    return { items: plain };
  }
  const tags = new Map<string, readonly SourceNode[]>();
  for (const [name, { value }] of root.kind === "object" && plain === null ? root.members : []) {
    const tasks = tasksOf(value);
    if (tasks !== null) {
      tags.set(name, tasks);
    }
  }
  const names = [...tags.keys()];
  if (plain !== null || names.length === 0) {
    const message =
      plain === null
        ? 'no list of tasks was found; a file of Task Master is {"tasks": […]} or {"<tag>": {"tasks": […]}}'
        : "the file has no tags; leave --tag out";
    return { line, message };
  }
  const chosen = tag ?? (names.length === 1 ? names[0] : names.find((name) => name === MAIN));
  const items = tags.get(chosen ?? "");
  if (items === undefined) {
    const known = names.map(quote).join(", ");
    const message =
      tag === undefined
        ? `the file has the tags ${known}; choose one with --tag`
        : `the file has no tag ${quote(tag)}; it has ${known}`;
    return { line, message };
  }
  const others = names.filter((name) => name !== chosen);
  if (tag === undefined && others.length > 0) {
    notes.push(
      `of the tags only ${quote(chosen ?? "")} is read; --tag chooses another: ${others.map(quote).join(", ")}`,
    );
  }
  return { items };
}

function tasksOf(node: SourceNode): readonly SourceNode[] | null {
  const value = node.kind === "object" ? node.members.get("tasks")?.value : undefined;
  return value?.kind === "array" ? value.items : null;
}

function planOf(
  items: readonly SourceNode[],
  {
    lines,
    notes,
    options,
  }: { readonly lines: LineIndex; readonly notes: string[]; readonly options: ReadOptions },
): ForeignPlan {
  const problems: Problem[] = [];
  const tasks = new Map<string, MasterTask>();
  for (const item of items) {
    const { line } = lines(item.start);
    const id = item.kind === "object" ? idIn(item, "id") : null;
    if (item.kind !== "object" || id === null) {
      problems.push({ line, message: "this task has no id; give it a number" });
      continue;
    }
    const other = tasks.get(id);
    if (other !== undefined) {
      const message = `${id} is the id of the task on line ${other.line}, too; give one of them another`;
      problems.push({ line, message });
      continue;
    }
    const status = textIn(item, "status").toLowerCase();
    tasks.set(id, { id, node: item, line, status, depends: namesIn(item, lines) });
  }
  const { open, left, crowd } = splitTasks([...tasks.values()], ({ status }) => reasonOf(status));
  if (crowd !== null) {
    return crowd;
  }
  notes.push(...unknownStates(tasks));
  const depends = new Map(
    open.map((task) => [task.id, dependenciesOf(task, { tasks, notes, problems })]),
  );
  problems.push(...cycleProblems(open, depends));
  return {
    tasks: open.map((task): ForeignTask => {
      const { id, node, line } = task;
      const title = textIn(node, "title") || textIn(node, "description");
      const instructions = title === "" ? "" : instructionsOf(task, options.documents);
      return { id, line, title: titleOf(title), instructions, depends: depends.get(id) ?? [] };
    }),
    left,
    notes,
    problems,
  };
}

function unknownStates(tasks: ReadonlyMap<string, MasterTask>): string[] {
  const byStatus = new Map<string, string[]>();
  for (const { id, status } of tasks.values()) {
    if (status !== "" && !OPEN.has(status) && reasonOf(status) === null) {
      addTo(byStatus, status, id);
    }
  }
  return Array.from(
    byStatus,
    ([status, ids]) =>
      `the status ${quote(status)} of ${plural(ids.length, "task")} is unknown and taken for pending`,
  );
}

/** Open tasks that must be done before one; a subtask counts as its task. */
function dependenciesOf(
  { id, depends }: MasterTask,
  {
    tasks,
    notes,
    problems,
  }: {
    readonly tasks: ReadonlyMap<string, MasterTask>;
    readonly notes: string[];
    readonly problems: Problem[];
  },
): string[] {
  const found = new Set<string>();
  for (const { name, line } of depends) {
    const [whole = name] = name.split(".");
    const task = tasks.get(name) ?? tasks.get(whole);
    if (task === undefined) {
      problems.push({
        line,
        message: `${id} depends on ${quote(name)}, which is not in this list; correct it, or remove it`,
      });
    } else if (name === id) {
      problems.push({ line, message: `${id} depends on itself; remove that` });
    } else if (PUT_OFF.has(task.status)) {
      notes.push(`${id} depends on ${task.id}, which is ${task.status}; it does not wait for it`);
    } else if (!DONE.has(task.status) && task.id !== id) {
      found.add(task.id);
    }
  }
  return [...found];
}

/** Cycles that are named, at most. */
const MAX_CYCLES = 5;
/** Tasks of one cycle that are named. */
const MAX_STEPS = 12;

function cycleProblems(
  open: readonly MasterTask[],
  depends: ReadonlyMap<string, readonly string[]>,
): Problem[] {
  const index = new Map(open.map(({ id }, at) => [id, at]));
  const successors = open.map(({ id }) =>
    (depends.get(id) ?? []).map((other) => index.get(other) ?? -1),
  );
  const { cycles } = findCycles(successors, { cycles: MAX_CYCLES, steps: 10_000 });
  return cycles.map(({ path }) => {
    const ids = path.slice(0, MAX_STEPS).map((at) => open[at]?.id ?? "");
    const more = path.length > MAX_STEPS ? ["…"] : [];
    const way = [...ids, ...more, ids[0] ?? ""].join(" → ");
    const { line = 1 } = open[path[0] ?? 0] ?? {};
    return {
      line,
      message: `tasks depend on each other in a circle: ${way}; remove one of these dependencies`,
    };
  });
}

function instructionsOf({ id, node }: MasterTask, documents: readonly string[]): string {
  const title = textIn(node, "title");
  const description = textIn(node, "description");
  return paragraphs(
    title,
    description === title ? "" : description,
    textIn(node, "details"),
    stepsOf(node),
    labelled("Acceptance criteria", textIn(node, "acceptanceCriteria")),
    labelled("How to check it", textIn(node, "testStrategy")),
    ...readFirst(documents),
    `This is task ${id}. The other tasks of its list are done in other phases: leave them alone.`,
  );
}

function namesIn(node: ObjectNode, lines: LineIndex): MasterTask["depends"] {
  return itemsIn(node, "dependencies").flatMap((item) => {
    const name = idOf(item);
    return name === null ? [] : [{ name, line: lines(item.start).line }];
  });
}
