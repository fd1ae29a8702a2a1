import { parseSync } from "rolldown/utils";

export interface Sentence {
  /** Counted from 1. */
  line: number;
  text: string;
}

/** A text without a break: a paragraph, a comment, a string. */
interface Passage {
  start: number;
  text: string;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Texts that are SQL: `where` means something else there. */
const SQL =
  /\b(?:select .+ from|insert into|update \w+ set|delete from|create (?:table|unique|index)|idempotency_key is)\b/is;

/** The sentences of a Markdown document. Code blocks are left out. */
export function sentencesOfMarkdown(source: string): Sentence[] {
  const prose = source.replaceAll(/^( *)```.*?^\1```/gms, (block) =>
    block.replaceAll(/[^\n]/g, ""),
  );
  const passages = prose.matchAll(/[^\n]+(?:\n(?! *(?:[#|>]|[-*] |\d+\. ))[^\n]+)*/g);
  return sentencesOf(
    source,
    [...passages].map(({ index, 0: text }) => ({ start: index, text })),
  );
}

/** The sentences of a program's comments and strings; of a test file its comments and titles. */
export function sentencesOfProgram(
  source: string,
  { isTest = false, isJsx = false } = {},
): Sentence[] {
  const name = isJsx ? "program.tsx" : "program.ts";
  const { program, comments, errors } = parseSync(name, source);
  if (errors.length > 0) {
    throw new Error(`This program cannot be parsed: ${errors[0]?.message}`);
  }
  const strings: Passage[] = [];
  collectStrings(program, { into: strings, titlesOnly: isTest });
  return sentencesOf(source, [...passagesOfComments(source, comments), ...strings]);
}

/** Consecutive `//` lines are one passage. Markers become blanks, so that positions stay the same. */
function passagesOfComments(
  source: string,
  comments: readonly { start: number; end: number }[],
): Passage[] {
  const passages: Passage[] = [];
  for (const { start, end } of comments) {
    const last = passages.at(-1);
    const text = source.slice(start, end).replaceAll(/^ *(?:\/\/|\/?\*+(?!\/))|\*\/$/gm, blanks);
    const between = last && source.slice(last.start + last.text.length, start);
    if (last && between !== undefined && /^\n? *$/.test(between)) {
      last.text += between + text;
    } else {
      passages.push({ start, text });
    }
  }
  return passages;
}

function blanks(marker: string): string {
  return " ".repeat(marker.length);
}

function collectStrings(
  value: unknown,
  { into, titlesOnly }: { into: Passage[]; titlesOnly: boolean },
): void {
  if (Array.isArray(value)) {
    for (const element of value) {
      collectStrings(element, { into, titlesOnly });
    }
    return;
  }
  if (!isNode(value) || value.type === "TaggedTemplateExpression") {
    return;
  }
  const text = titlesOnly ? undefined : stringOf(value);
  if (text !== undefined && /\S\s+\S/.test(text) && !SQL.test(text)) {
    into.push({ start: value.start, text });
  }
  if (titlesOnly && isTestCall(value)) {
    const [title] = Array.isArray(value["arguments"]) ? value["arguments"] : [];
    into.push({ start: value.start, text: stringOf(title) ?? "" });
  }
  // the pieces of a string that is put together with + are read with it
  if (text === undefined || value.type === "TemplateLiteral") {
    for (const child of Object.values(value)) {
      collectStrings(child, { into, titlesOnly });
    }
  }
}

/** The text of a string, a template or strings added with +; `…` replaces each expression. */
function stringOf(value: unknown): string | undefined {
  if (!isNode(value)) {
    return undefined;
  }
  if (value.type === "Literal" || value.type === "JSXText") {
    return typeof value["value"] === "string" ? value["value"] : undefined;
  }
  if (value.type === "TemplateLiteral" && Array.isArray(value["quasis"])) {
    return value["quasis"].map(({ value: { cooked } }) => cooked).join("…");
  }
  if (value.type === "BinaryExpression" && value["operator"] === "+") {
    const [left, right] = [stringOf(value["left"]), stringOf(value["right"])];
    return left === undefined && right === undefined ? undefined : `${left ?? "…"}${right ?? "…"}`;
  }
  return undefined;
}

/** `it(…)`, `describe.each(…)(…)` and helpers such as `describeEngines(…)`. */
function isTestCall(node: Node): boolean {
  let callee: unknown = node.type === "CallExpression" ? node["callee"] : undefined;
  while (isNode(callee) && callee.type !== "Identifier") {
    callee = callee["object"] ?? callee["callee"];
  }
  return isNode(callee) && /^(?:it|test|describe)(?![a-z])/.test(String(callee["name"]));
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function sentencesOf(source: string, passages: readonly Passage[]): Sentence[] {
  return passages.flatMap(({ start, text }) => {
    const first = source.slice(0, start).split("\n").length;
    return [...text.matchAll(/\S.*?(?:[.!?](?=\s|$)|$(?![\s\S]))/gs)].map(
      ({ index, 0: sentence }) => ({
        line: first + text.slice(0, index).split("\n").length - 1,
        text: sentence.replaceAll(/\s+/g, " ").trim(),
      }),
    );
  });
}
