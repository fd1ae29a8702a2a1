/** Formats of other tools that a phase plan can be made from. */
export const FOREIGN_FORMATS = ["spec-kit", "kiro", "taskmaster"] as const;
export type ForeignFormat = (typeof FOREIGN_FORMATS)[number];

/** An error in a file of another tool, for a person. */
export interface Problem {
  /** From 1. */
  readonly line: number;
  /** A sentence in which names from the file are quoted. */
  readonly message: string;
}

/** A task of another tool. */
export interface ForeignTask {
  /** As the file writes it: `T012`, `2.1`, `7`. */
  readonly id: string;
  readonly line: number;
  readonly title: string;
  /** Text for somebody who sees nothing else of the file. */
  readonly instructions: string;
  /** Ids of open tasks. */
  readonly depends: readonly string[];
}

/** Tasks and problems that a reader of a format found in a file. */
export interface ForeignPlan {
  /** The open tasks, in their order in the file. */
  readonly tasks: readonly ForeignTask[];
  /** Ids of the tasks that the plan leaves out, by the reason. */
  readonly left: ReadonlyMap<string, readonly string[]>;
  /** Sentences about what was read in another way than a reader might expect. */
  readonly notes: readonly string[];
  readonly problems: readonly Problem[];
}

/** Options that a reader gets. */
export interface ReadOptions {
  /** Paths of the specification, for the instructions. */
  readonly documents: readonly string[];
  /** Tag of a Task Master file. */
  readonly tag?: string | undefined;
}

/** Adds a value to the list of a key. */
export function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) {
    lists.set(key, [value]);
  } else {
    list.push(value);
  }
}

/** Returns the sentence that names the specification, if its files are known. */
export function readFirst(documents: readonly string[]): string[] {
  return documents.length === 0 ? [] : [`Read first: ${documents.join(", ")}`];
}

/** Joins paragraphs, without those that are empty. */
export function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

/** Lines that one note names. */
const MAX_LINES = 5;

/** Returns the note about open boxes without a number: nobody may take them for a part of the plan. */
export function unreadNotes(lines: readonly number[], form: string): string[] {
  if (lines.length === 0) {
    return [];
  }
  const named = lines.slice(0, MAX_LINES).join(", ");
  const more = lines.length > MAX_LINES ? ", …" : "";
  return [`open boxes without a number such as ${form} are not imported: line ${named}${more}`];
}

/** Tasks of a file: those that become phases, and why others do not. */
export interface SplitTasks<Task> {
  readonly open: readonly Task[];
  readonly left: ReadonlyMap<string, readonly string[]>;
  /** A plan without tasks, if too many are open. */
  readonly crowd: ForeignPlan | null;
}

/** Splits tasks; a reason leaves a task out. */
export function splitTasks<Task extends { readonly id: string; readonly line: number }>(
  tasks: readonly Task[],
  reasonOf: (task: Task) => string | null,
): SplitTasks<Task> {
  const left = new Map<string, string[]>();
  const open = tasks.filter((task) => {
    const reason = reasonOf(task);
    if (reason !== null) {
      addTo(left, reason, task.id);
    }
    return reason === null;
  });
  return { open, left, crowd: tooMany(open, left) };
}

/** Returns the paragraph that keeps a phase to its task. */
export function onlyTask(id: string): string {
  return `This is task ${id}. The other tasks of its list are done in other phases: leave them alone.`;
}

/** Phases of one plan, at most. */
const MAX_PHASES = 1000;

/** Returns a plan without tasks if a file has too many open ones; checked first, before anything is made of each. */
function tooMany(
  open: readonly { readonly line: number }[],
  left: ForeignPlan["left"],
): ForeignPlan | null {
  const first = open[MAX_PHASES];
  if (first === undefined) {
    return null;
  }
  const message = `the file has ${open.length} open tasks, and a plan ${MAX_PHASES} phases at most; split it`;
  return { tasks: [], left, notes: [], problems: [{ line: first.line, message }] };
}
