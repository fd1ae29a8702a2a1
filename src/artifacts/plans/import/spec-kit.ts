import { quote } from "../../../core/text/terminal-text.ts";
import {
  type ForeignPlan,
  type ForeignTask,
  type Problem,
  type ReadOptions,
  splitTasks,
  unreadNotes,
} from "./foreign-plan.ts";
import { dependenciesInOrder, type OrderedTask, withNamed } from "./in-order.ts";
import { namedBefore } from "./named-before.ts";
import { namesIn } from "./spec-kit-names.ts";
import {
  type Checkpoint,
  checkOf,
  idOf,
  type Section,
  type SpecTask,
  taskOf,
} from "./spec-kit-phases.ts";
import { type CheckLine, isDone, type TaskLine, taskLines, titleOf } from "./task-lines.ts";

const TASK = /^\*{0,2}(T-?\d+[a-z]?)\*{0,2}[:.]?(?:\s+(.*)|$)/i;
const PARALLEL = /^\[P\]$/i;
const LABEL = /^\[([^\]]{1,20})\]\s*/;
const NAMED = /^\*\*(purpose|goal|independent test|checkpoint)\s*:?\s*\*\*\s*:?\s*(.*)$/i;

/**
 * Reads a `tasks.md` of spec-kit. Tasks run in their order; those marked `[P]` that follow each other below one
 * heading run side by side. A checkpoint is a task after all of its section.
 */
export function readSpecKit(text: string, { documents }: ReadOptions): ForeignPlan {
  const reader = new SpecKitReader();
  for (const line of taskLines(text)) {
    reader.read(line);
  }
  return reader.plan(documents);
}

/** Characters of a goal or a checkpoint beyond which no further line is added. */
const MAX_LABEL = 5000;

class SpecKitReader {
  readonly #tasks: SpecTask[] = [];
  /** By the open task that each comes after; the last one counts. */
  readonly #checkpoints = new Map<SpecTask, Checkpoint>();
  readonly #unread: number[] = [];
  readonly #placeholders: Problem[] = [];
  #section: Section = { name: "", labels: new Map() };
  #block = 0;
  #indent = 0;
  /** Label of the section whose text the next line continues; null after an empty line. */
  #label: string | null = null;
  #isInTask = false;
  /** The last open task of the section. */
  #lastOpen: SpecTask | null = null;

  read(line: TaskLine): void {
    if (line.kind === "heading") {
      this.#heading(line);
    } else if (line.kind === "check") {
      this.#check(line);
    } else {
      this.#text(line);
    }
  }

  #heading({ level, text }: Extract<TaskLine, { kind: "heading" }>): void {
    this.#block += 1;
    this.#isInTask = false;
    this.#label = null;
    if (level <= 2) {
      this.#section = { name: titleOf(text), labels: new Map() };
      this.#lastOpen = null;
    }
  }

  #check(line: CheckLine): void {
    this.#label = null;
    const [, id, rest = ""] = TASK.exec(line.text) ?? [];
    if (id === undefined) {
      this.#unnumbered(line);
      return;
    }
    const { labels, text } = labelsOf(rest);
    this.#isInTask = true;
    this.#indent = line.indent;
    const task: SpecTask = {
      id: id.toUpperCase().replace(/[A-Z]$/, (letter) => letter.toLowerCase()),
      line: line.line,
      text,
      details: [],
      section: this.#section,
      block: this.#block,
      isParallel: labels.some((label) => PARALLEL.test(label)),
      left: reasonOf(line.mark),
    };
    this.#tasks.push(task);
    this.#lastOpen = task.left === null ? task : this.#lastOpen;
  }

  /** Handles a box without an id: it belongs to the task around it, or is a list that only people read. */
  #unnumbered({ line, indent, mark, text }: CheckLine): void {
    const task = this.#tasks.at(-1);
    if (/^TX+\b/.test(text)) {
      const message = `${quote(text)} is a placeholder of the template; give the task a number, or remove it`;
      this.#placeholders.push({ line, message });
    } else if (this.#isInTask && task !== undefined && indent > this.#indent) {
      task.details.push(`${" ".repeat(indent)}- [${mark}] ${text}`);
    } else if (!isDone(mark)) {
      this.#unread.push(line);
    }
  }

  #text(line: Extract<TaskLine, { kind: "text" | "fence" }>): void {
    const text = line.text.trim();
    const named = line.kind === "text" ? NAMED.exec(text) : null;
    if (named !== null) {
      const [, name = "", rest = ""] = named;
      this.#isInTask = false;
      this.#label = name.toLowerCase();
      this.#section.labels.set(this.#label, rest);
      if (this.#label === "checkpoint") {
        this.#checkpoint(line.line, rest);
      }
    } else if (text === "") {
      this.#label = null;
      this.#detail("");
    } else if (this.#label !== null) {
      this.#continueLabel(this.#label, text);
    } else if (line.indent > this.#indent) {
      this.#detail(line.text);
    } else {
      this.#isInTask = false;
    }
  }

  #detail(text: string): void {
    if (this.#isInTask) {
      this.#tasks.at(-1)?.details.push(text);
    }
  }

  #continueLabel(label: string, text: string): void {
    const { labels } = this.#section;
    const before = labels.get(label) ?? "";
    if (before.length > MAX_LABEL) {
      return;
    }
    const whole = `${before} ${text}`.trim();
    labels.set(label, whole);
    const last = this.#lastOpen === null ? undefined : this.#checkpoints.get(this.#lastOpen);
    if (label === "checkpoint" && last !== undefined) {
      this.#checkpoints.set(last.after, { ...last, text: whole });
    }
  }

  #checkpoint(line: number, text: string): void {
    const after = this.#lastOpen;
    if (after !== null) {
      this.#checkpoints.set(after, { after, line, section: this.#section, text });
    }
  }

  plan(documents: readonly string[]): ForeignPlan {
    const { open, left, crowd } = splitTasks(this.#tasks, (task) => task.left);
    return crowd ?? this.#planOf(open, { left, documents });
  }

  #planOf(
    open: readonly SpecTask[],
    {
      left,
      documents,
    }: { readonly left: ForeignPlan["left"]; readonly documents: readonly string[] },
  ): ForeignPlan {
    const steps = open.flatMap((task) => {
      const checkpoint = this.#checkpoints.get(task);
      return checkpoint === undefined ? [task] : [task, checkpoint];
    });
    const order = dependenciesInOrder(steps.map(placeOf));
    const named = namedDependencies(open, this.#tasks);
    const sections = Map.groupBy(open, ({ section }) => section);
    const tasks = steps.map((step): ForeignTask => {
      const depends = withNamed(idOf(step), { order, named: named.ids.get(idOf(step)) ?? [] });
      return "after" in step
        ? { ...checkOf(step, { documents, checked: sections.get(step.section) ?? [] }), depends }
        : { ...taskOf(step, documents), depends };
    });
    return {
      tasks,
      left,
      notes: unreadNotes(this.#unread, "T001"),
      problems: [...this.#placeholders, ...duplicates(this.#tasks), ...named.problems],
    };
  }
}

function placeOf(step: SpecTask | Checkpoint): OrderedTask {
  const isTask = !("after" in step);
  return {
    id: idOf(step),
    isParallel: isTask && step.isParallel,
    block: isTask ? String(step.block) : "",
  };
}

function labelsOf(text: string): { readonly labels: string[]; readonly text: string } {
  const labels: string[] = [];
  let rest = text;
  for (let label = LABEL.exec(rest); label !== null; label = LABEL.exec(rest)) {
    labels.push(`[${label[1] ?? ""}]`);
    rest = rest.slice(label[0].length);
  }
  return { labels, text: rest };
}

function reasonOf(mark: string): string | null {
  if (isDone(mark)) {
    return "done";
  }
  return mark === " " ? null : `marked [${mark}]`;
}

/** Ids that two tasks have, if one of the two is open. */
function duplicates(tasks: readonly SpecTask[]): Problem[] {
  const first = new Map<string, SpecTask>();
  return tasks.flatMap((task) => {
    const other = first.get(task.id);
    first.set(task.id, other ?? task);
    if (other === undefined || (task.left !== null && other.left !== null)) {
      return [];
    }
    const message = `${task.id} is the id of the task on line ${other.line}, too; give one of them another`;
    return [{ line: task.line, message }];
  });
}

/** Tasks that the texts of others name as their dependencies. */
function namedDependencies(
  open: readonly SpecTask[],
  all: readonly SpecTask[],
): { readonly ids: ReadonlyMap<string, readonly string[]>; readonly problems: Problem[] } {
  // of two tasks with one id the first counts
  const known = new Map(all.toReversed().map((task) => [task.id, task]));
  const named = open.map(
    (task) =>
      [
        task.id,
        namedBefore(task, namesIn([task.text, ...task.details].join("\n")), known),
      ] as const,
  );
  return {
    ids: new Map(named.map(([id, { ids }]) => [id, ids])),
    problems: named.flatMap(([, { problems }]) => problems),
  };
}
