import { oneLine } from "../../../core/text/terminal-text.ts";
import { longerText } from "../../../core/text/longer-text.ts";
import { visibleBlanks } from "../../../core/text/visible-blanks.ts";
import { ruleAsks } from "../../../core/text/words.ts";
import { BUILT_IN_LAYER } from "../../../rules/permissions/layers.ts";
import type { GivenAnswer } from "../../output/question-lines.ts";
import { cutLine } from "../text/fold.ts";
import { choiceRows, type KeyedChoice } from "./question-choices.ts";
import { answerRows, labelled, type ShownQuestion } from "./question-text.ts";
import type { Part } from "../screen/screen.ts";
import type { Theme } from "../text/theme.ts";

/** Live rows of a question at most. */
const MAX_LIVE_ROWS = 9;
const MAX_TITLE_ROWS = 3;
/** Characters of a first line that the title may have. */
const MAX_TITLE = 2000;

export interface QuestionPlace {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** A question as it is shown now. */
export interface LiveQuestion {
  readonly theme: Theme;
  readonly question: ShownQuestion;
  readonly place: QuestionPlace;
  /** The folder of the session; null if it has none. */
  readonly folder: string | null;
  readonly choices: readonly KeyedChoice[];
  readonly marked: number | null;
  /** The message that is being typed; null for none. */
  readonly message: Part | null;
  /** Has the place of the choices while text is typed. */
  readonly editor: Part | null;
  /** Before the editor: what is typed there. */
  readonly prompt: string | null;
  /** A sentence in the place of the keys. */
  readonly hint: string | null;
  readonly keys: readonly string[];
}

/**
 * Draws what is asked, the command, which rule asks, who asks and where, the choices or the editor, and the keys: at most 9
 * rows, and at most `height`. What is left out first is in the scrollback above.
 */
export function liveRows(live: LiveQuestion, width: number, height: number): string[] {
  const max = Math.max(3, Math.min(MAX_LIVE_ROWS, height));
  const below = answering(live, width, max);
  const title = titleRows({ ...live, width }, MAX_TITLE_ROWS);
  const free = max - 2 - below.length;
  const [subject, where] = [subjectRows(live, width), whereRows(live, width)];
  // the subject counts more than the rules of longer answers, these more than where, and that than why
  const needed = [...subject, ...longerRows(live, width), ...where].slice(0, Math.max(0, free));
  const why = free >= needed.length + title.length ? whyRows(live, width) : [];
  const about = [...needed, ...why];
  return [
    ...titleRows({ ...live, width }, Math.min(title.length, 1 + free - about.length)),
    ...about,
    ...below,
    lastRow(live, width),
  ];
}

/**
 * Draws what the rows right above do not show: which of several questions it is, which sub-agent asks, the choices or
 * the editor, and the keys.
 */
export function shortRows(live: LiveQuestion, width: number, height: number): string[] {
  const about = [
    ...(live.place.count > 1 ? titleRows({ ...live, width }, 1) : []),
    ...(live.question.path.length > 1 ? whereRows(live, width) : []),
  ];
  const max = Math.max(3, Math.min(MAX_LIVE_ROWS, height)) - about.length;
  return [...about, ...answering(live, width, max), lastRow(live, width)];
}

/** The choices or the editor, and the message that is being typed. */
function answering(live: LiveQuestion, width: number, max: number): string[] {
  const rows = max > 5 ? 2 : 1;
  const message = live.message?.rows(width, rows).slice(-rows) ?? [];
  return [...acting(live, width, Math.max(1, max - 2 - message.length)), ...message];
}

/** The choices, or what is typed. */
function acting(live: LiveQuestion, width: number, max: number): string[] {
  const { theme, choices, marked, editor, prompt } = live;
  if (editor === null) {
    return choiceRows(choices, { theme, width, max, marked });
  }
  const head = prompt === null || max < 2 ? [] : [cutLine(`  ${prompt}`, width)];
  return [...head, ...editor.rows(width, max - head.length).slice(head.length - max)];
}

function lastRow({ theme, hint, keys }: LiveQuestion, width: number): string {
  const row = cutLine(`  ${hint ?? keys.join(" · ")}`, width);
  return hint === null ? theme.dim(row) : theme.warning(row);
}

type Titled = Pick<LiveQuestion, "theme" | "question" | "place"> & { readonly width: number };

/** For the scrollback: the answer, after the title if the last question there may be another one. */
export function answeredRows(answer: GivenAnswer, titled: Titled): string[] {
  return [...(titled.place.count > 1 ? titleRows(titled, 1) : []), ...answerRows(answer, titled)];
}

/** Which question, and its first line. */
function titleRows({ theme, question, place, width }: Titled, max: number): string[] {
  const { index, count } = place;
  const isPermission = question.kind === "permission";
  const alone = isPermission ? "" : "The agent asks: ";
  const label = count > 1 ? `Question ${index} of ${count}: ` : alone;
  const [line = ""] = question.text.slice(0, MAX_TITLE).trim().split("\n", 1);
  return labelled(label, line, width, max).map((row, at) => (at === 0 ? theme.bold(row) : row));
}

/** The command of a permission, which its first line does not name. */
function subjectRows({ theme, question }: LiveQuestion, width: number): string[] {
  const subject = question.permission?.subject ?? null;
  const [title = ""] = question.text.slice(0, MAX_TITLE).split("\n", 1);
  return subject === null || title.includes(subject)
    ? []
    : [theme.dim("| ") + cutLine(oneLine(visibleBlanks(subject)), width - 2)];
}

/** Which rule asks, unless it is the one that asks about each change. */
function whyRows({ theme, question }: LiveQuestion, width: number): string[] {
  const { permission } = question;
  return permission === null || permission.layer === BUILT_IN_LAYER
    ? []
    : labelled("Why: ", ruleAsks(permission), width, 1).map(theme.dim);
}

/** Says what the answers are for that count for longer than this call. */
function longerRows({ theme, question }: LiveQuestion, width: number): string[] {
  const longer = longerText(question.choices);
  return longer === null ? [] : labelled("", longer, width, 1).map(theme.dim);
}

function whereRows({ theme, question, folder }: LiveQuestion, width: number): string[] {
  const ids = question.path.map((id) => oneLine(id).slice(0, 8));
  const who = ids.length > 1 ? `sub-agent ${ids.join(" > ")}` : `session ${ids.join("")}`;
  const where = folder === null ? who : `${who}, folder ${oneLine(folder)}`;
  return labelled("Where: ", where, width, 1).map(theme.dim);
}
