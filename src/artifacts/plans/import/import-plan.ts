import type { Phase, PhasePlan } from "../phase-plan.ts";
import type {
  ForeignFormat,
  ForeignPlan,
  ForeignTask,
  Problem,
  ReadOptions,
} from "./foreign-plan.ts";
import { readKiro } from "./kiro.ts";
import { readSpecKit } from "./spec-kit.ts";
import { readTaskMaster } from "./task-master.ts";

export interface ImportOptions extends ReadOptions {
  readonly format: ForeignFormat;
  readonly role: string;
  readonly runId: string;
}

/** A plan, or why there is none. */
export interface ImportedPlan {
  /** Null if there are problems. */
  readonly plan: PhasePlan | null;
  /** In the order of their lines. */
  readonly problems: readonly Problem[];
  /** Ids of the tasks that the plan leaves out, by the reason. */
  readonly left: ReadonlyMap<string, readonly string[]>;
  readonly notes: readonly string[];
}

const READERS: Readonly<
  Record<ForeignFormat, (text: string, options: ReadOptions) => ForeignPlan>
> = { "spec-kit": readSpecKit, kiro: readKiro, taskmaster: readTaskMaster };

/** Marks by which the tasks of each format are recognised. */
const FORMS: Readonly<Record<ForeignFormat, string>> = {
  "spec-kit": "`- [ ] T001 Text`",
  kiro: "`- [ ] 1. Text`",
  taskmaster: '`{"id": 1, "title": "Text", "status": "pending"}`',
};

/** Characters of a file, and of the instructions of one phase, at most. */
const MAX_TEXT = 2_000_000;
const MAX_INSTRUCTIONS = 100_000;

/** Makes a phase plan of the file of another tool. Every plan that it returns is valid. */
export function importPlan(text: string, options: ImportOptions): ImportedPlan {
  const unread = unreadable(text, options.format);
  const read: ForeignPlan =
    unread.length > 0
      ? { tasks: [], left: new Map(), notes: [], problems: unread }
      : READERS[options.format](text, options);
  const problems = [
    ...read.problems,
    ...(read.problems.length === 0 ? wrong(read, text, options) : []),
  ];
  return {
    plan: problems.length > 0 ? null : planOf(read.tasks, options),
    problems: problems.toSorted((a, b) => a.line - b.line),
    left: read.left,
    notes: read.notes,
  };
}

/** Characters that a terminal obeys, that turn the direction of a text, and half ones. */
const CONTROL = /(?![\t\n\r])\p{Cc}|[\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Returns why a text is not read at all. JSON has control characters as escapes, too. */
function unreadable(text: string, format: ForeignFormat): Problem[] {
  if (text.length > MAX_TEXT) {
    return [{ line: 1, message: `the file has more than ${MAX_TEXT} characters; split it` }];
  }
  const lines = text.replaceAll(/\r\n?/g, "\n").split("\n");
  return lines.flatMap((each, at) => {
    const found = CONTROL.exec(format === "taskmaster" ? unescaped(each) : each)?.[0];
    if (found === undefined) {
      return [];
    }
    const sign = `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    return [{ line: at + 1, message: `the text has the control character ${sign}; remove it` }];
  });
}

function unescaped(line: string): string {
  return line.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code?: string) =>
    code === undefined ? " " : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns the problems of a whole file or of one task. */
function wrong({ tasks, left }: ForeignPlan, text: string, { format }: ImportOptions): Problem[] {
  if (text.trim() === "") {
    return [{ line: 1, message: "the file is empty" }];
  }
  if (tasks.length === 0) {
    return [{ line: 1, message: left.size === 0 ? noTasks(text, format) : allLeft(left) }];
  }
  return tasks.flatMap(({ id, line, title, instructions }) => {
    if (title === "") {
      return [{ line, message: `${id} has no text; write what is to be done, or remove it` }];
    }
    return instructions.length > MAX_INSTRUCTIONS
      ? [{ line, message: `${id} has more than ${MAX_INSTRUCTIONS} characters; shorten it` }]
      : [];
  });
}

function noTasks(text: string, format: ForeignFormat): string {
  const other = Object.keys(READERS).find((each): each is ForeignFormat => {
    const name = each as ForeignFormat;
    return name !== format && READERS[name](text, { documents: [] }).tasks.length > 0;
  });
  const message = `no task was found; one is written ${FORMS[format]}`;
  return other === undefined ? message : `${message}. This file can be read with --from ${other}`;
}

function allLeft(left: ForeignPlan["left"]): string {
  const counts = Array.from(left, ([reason, ids]) => `${ids.length} ${reason}`);
  return `no task is open (${counts.join(", ")}), so there is nothing to run`;
}

function planOf(tasks: readonly ForeignTask[], { role, runId }: ImportOptions): PhasePlan {
  const keys = keysOf(tasks);
  const phases = tasks.map(({ id, title, instructions, depends }): Phase => {
    const depends_on = depends.map((other) => keys.get(other) ?? other);
    return {
      key: keys.get(id) ?? id,
      title,
      role,
      instructions,
      ...(depends_on.length === 0 ? {} : { depends_on }),
    };
  });
  return { runId, phaseKey: "planning", phases };
}

const MAX_KEY = 60;

/** Makes keys of ids: `T012` gives `t012`, `2.1` gives `task-2-1`. */
function keysOf(tasks: readonly ForeignTask[]): Map<string, string> {
  const keys = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id } of tasks) {
    const plain = id
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, MAX_KEY);
    const base = /^[a-z]/.test(plain) ? plain : `task-${plain}`.replace(/-+$/, "");
    let key = base;
    for (let count = 2; taken.has(key); count += 1) {
      key = `${base}-${count}`;
    }
    taken.add(key);
    keys.set(id, key);
  }
  return keys;
}
