import { type ForeignTask, onlyTask, paragraphs, readFirst } from "./foreign-plan.ts";
import { dedented, titleOf } from "./task-lines.ts";

/** A heading of the second level with what is below it. */
export interface Section {
  readonly name: string;
  /** Texts of `**Goal**:` and the like, by their names in lower case. */
  readonly labels: Map<string, string>;
}

export interface SpecTask {
  readonly id: string;
  readonly line: number;
  readonly text: string;
  readonly details: string[];
  readonly section: Section;
  readonly block: number;
  readonly isParallel: boolean;
  /** Null for an open task. */
  readonly left: string | null;
}

/** The check at the end of a section: it needs the tasks before it. */
export interface Checkpoint {
  readonly after: SpecTask;
  readonly line: number;
  readonly section: Section;
  readonly text: string;
}

/** Returns the id of the phase of a step. */
export function idOf(step: SpecTask | Checkpoint): string {
  return "after" in step ? `checkpoint ${step.after.id}` : step.id;
}

/** Makes the phase of a task. */
export function taskOf(
  { id, line, text, details, section }: SpecTask,
  documents: readonly string[],
): Omit<ForeignTask, "depends"> {
  const instructions = paragraphs(
    [text, dedented(details)].filter((each) => each !== "").join("\n"),
    sectionText(section, ["purpose", "goal", "independent test"]),
    ...readFirst(documents),
    onlyTask(id),
  );
  return { id, line, title: titleOf(text), instructions };
}

function sectionText({ name, labels }: Section, wanted: readonly string[]): string {
  const lines = wanted.flatMap((label) => {
    const text = labels.get(label) ?? "";
    return text === "" ? [] : [`${label.charAt(0).toUpperCase()}${label.slice(1)}: ${text}`];
  });
  return [...(name === "" ? [] : [`It belongs to "${name}".`]), ...lines].join("\n");
}

/** Makes the phase of a checkpoint. */
export function checkOf(
  step: Checkpoint,
  {
    documents,
    checked,
  }: { readonly documents: readonly string[]; readonly checked: readonly SpecTask[] },
): Omit<ForeignTask, "depends"> {
  const { line, section, text } = step;
  const instructions = paragraphs(
    `Check the work of ${checked.map(({ id }) => id).join(", ")}. This must hold:\n${text}`,
    sectionText(section, ["independent test"]),
    ...readFirst(documents),
    "Run what shows it, fix what does not hold, and answer with what you checked and found.",
  );
  return { id: idOf(step), line, title: titleOf(`Checkpoint: ${section.name}`), instructions };
}
