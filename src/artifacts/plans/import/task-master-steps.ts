import type { ObjectNode, SourceNode } from "../../sources/source.ts";
import { paragraphs } from "./foreign-plan.ts";
import { DONE, idIn, idOf, itemsIn, labelled, reasonOf, textIn } from "./task-master-fields.ts";

/** Subtask as the instructions of its task name it. */
interface Step {
  readonly id: string;
  readonly title: string;
  /** Description, details and check. */
  readonly texts: string;
  readonly status: string;
  readonly depends: readonly string[];
}

/** Lists the subtasks that are not done, each after those that it depends on, and names those that are. */
export function stepsOf(task: ObjectNode): string {
  const parent = idIn(task, "id") ?? "";
  const steps = itemsIn(task, "subtasks").flatMap((item) => stepOf(item, parent) ?? []);
  const open = inOrder(steps.filter(({ status }) => reasonOf(status) === null));
  const done = steps.filter(({ status }) => DONE.has(status));
  return paragraphs(
    open.length === 0 ? "" : ["Steps:", ...open.map(lineOf)].join("\n"),
    labelled("Done already", done.map(({ title }) => title).join("; ")),
  );
}

/** Reads a subtask: an object, or the text that says what to do; null for one without text. */
function stepOf(item: SourceNode, parent: string): Step | null {
  if (item.kind !== "object") {
    const title = idOf(item);
    return title === null ? null : { id: "", title, texts: "", status: "", depends: [] };
  }
  const [title, ...texts] = [
    textIn(item, "title"),
    textIn(item, "description"),
    textIn(item, "details"),
    labelled("Check", textIn(item, "testStrategy")),
  ].filter((text) => text !== "");
  if (title === undefined) {
    return null;
  }
  return {
    id: ownId(idIn(item, "id") ?? "", parent),
    title,
    texts: texts.join("\n"),
    status: textIn(item, "status").toLowerCase(),
    depends: itemsIn(item, "dependencies").map((each) => ownId(idOf(each) ?? "", parent)),
  };
}

/** Returns the id of a subtask within its task: `2` for `7.2`. */
function ownId(id: string, parent: string): string {
  return id.startsWith(`${parent}.`) ? id.slice(parent.length + 1) : id;
}

/** Keeps the order of the file, except for a step that depends on a later one. */
function inOrder(steps: readonly Step[]): Step[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const ordered = new Set<Step>();
  const entered = new Set<Step>();
  const stack = steps.toReversed();
  for (let step = stack.at(-1); step !== undefined; step = stack.at(-1)) {
    const before = entered.has(step) ? [] : step.depends.flatMap((id) => byId.get(id) ?? []);
    entered.add(step);
    const waiting = before.filter((other) => !entered.has(other));
    if (waiting.length === 0) {
      stack.pop();
      ordered.add(step);
    } else {
      stack.push(...waiting.toReversed());
    }
  }
  return [...ordered];
}

function lineOf({ title, texts }: Step, at: number): string {
  const text = `${at + 1}. ${title}${texts === "" ? "" : `\n${texts}`}`;
  return text.replaceAll("\n", "\n   ");
}
