import { oneLine, visible } from "../../../core/text/terminal-text.ts";
import { MAX_INDENTATION, visibleBlanks } from "../../../core/text/visible-blanks.ts";
import { ruleAsks } from "../../../core/text/words.ts";
import { BUILT_IN_LAYER, editingTools } from "../../../rules/permissions/layers.ts";
import { BUILT_IN_TOOLS } from "../../../rules/tools/built-in.ts";
import type { OpenQuestion } from "../../../store/records/questions/read.ts";
import { type DiffLine, parseDiff } from "../rows/diff-rows.ts";

type Asked = Pick<OpenQuestion, "kind" | "text" | "permission">;

/** A question as it is drawn: what would be done comes before what the program says about it. Its texts hide nothing. */
export interface QuestionParts {
  /** The first line. */
  readonly title: string;
  /** Lines of a change with their numbers; null for another question. */
  readonly diff: readonly DiffLine[] | null;
  /** Lines of a text, or of a command. */
  readonly body: readonly string[];
  /** Lines of the program about a command, such as its folder and its sandbox. */
  readonly about: readonly string[];
}

/** Lines of the program that come before a command, at most. */
const MAX_ABOUT = 8;

/**
 * Divides a question. The sentence about the built-in rule is left out, which asks about each change; the pager has all of
 * the text. A text of another form than that of the built-in tools is left unchanged.
 */
export function partsOf(asked: Asked): QuestionParts {
  const { permission } = asked;
  const [title = "", ...lines] = visible(asked.text).split("\n");
  if (asked.kind !== "permission" || permission === null) {
    return { title, diff: null, body: shownLines(lines), about: [] };
  }
  const isBuiltIn = permission.layer === BUILT_IN_LAYER && lines[0] === ruleAsks(permission);
  const rest = isBuiltIn ? lines.slice(1) : lines;
  const isEdit = editingTools(BUILT_IN_TOOLS).some(({ name }) => name === permission.tool);
  if (isEdit && rest.some((line) => line.startsWith("@@ -"))) {
    const diff = parseDiff(rest.join("\n").trimEnd().split("\n")).map((line) => ({
      ...line,
      text: visibleBlanks(line.text, MAX_INDENTATION),
    }));
    return { title, diff, body: [], about: [] };
  }
  // the subject of a command is its text, which comes last: no line of it can pass for one of the program
  const at = rest
    .slice(0, MAX_ABOUT)
    .findIndex((_, index) => oneLine(rest.slice(index).join("\n")) === permission.subject);
  const isCommand = BUILT_IN_TOOLS.get(permission.tool)?.about === "commands" && at > 0;
  return {
    title,
    diff: null,
    body: shownLines(isCommand ? rest.slice(at) : rest),
    // the line right before the command says that it is one
    about: isCommand ? shownLines(rest.slice(0, at - 1)) : [],
  };
}

function shownLines(lines: readonly string[]): string[] {
  const text = visibleBlanks(lines.join("\n"), MAX_INDENTATION).trimEnd();
  return text === "" ? [] : text.split("\n");
}
