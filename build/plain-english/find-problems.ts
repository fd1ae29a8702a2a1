import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Allowance, type Idiom, MAX_ALLOWED } from "./idioms.ts";
import { type Sentence, sentencesOfMarkdown, sentencesOfProgram } from "./sentences.ts";

export interface Problem {
  file: string;
  /** 0 for a problem with the list of allowances. */
  line: number;
  message: string;
}

interface Rules {
  idioms: readonly Idiom[];
  allowed: readonly Allowance[];
}

const FOLDERS = ["src", "web", "test", "bench", "bin", "build", "docs", "personas"];
/** Recorded data, the idioms themselves, and the page that repeats sentences of `src/`. */
const SKIPPED =
  /node_modules|^(?:test\/fixtures\/(?!programs\/)|bench\/results\/|build\/plain-english\/|docs\/commands\.md)/;
/** Its messages. */
const LINT_RULES = ".oxlintrc.json";

/** Each sentence of the project that holds an idiom, and each allowance that nothing needs. */
export function findProblems(root: string, rules: Rules): Problem[] {
  const used = new Set<Allowance>();
  const problems: Problem[] = [];
  for (const file of filesOf(root)) {
    for (const { line, text } of sentencesOf(root, file)) {
      for (const message of idiomsIn(text, rules.idioms)) {
        const allowance = rules.allowed.find((one) => one.file === file && text.includes(one.text));
        if (allowance) {
          used.add(allowance);
        } else {
          problems.push({ file, line, message });
        }
      }
    }
  }
  return [...problems, ...problemsOfAllowances(rules.allowed, used)];
}

/** One message for each idiom in a sentence. */
export function idiomsIn(sentence: string, idioms: readonly Idiom[]): string[] {
  return idioms
    .filter(({ find }) => find.test(sentence))
    .map(({ name, write }) => `${sentence}\n    "${name}": write ${write}`);
}

function problemsOfAllowances(
  allowed: readonly Allowance[],
  used: ReadonlySet<Allowance>,
): Problem[] {
  const problems = allowed
    .filter((one) => !used.has(one))
    .map(({ file, text }) => ({ file, line: 0, message: `Unused allowance, remove it: ${text}` }));
  if (allowed.length > MAX_ALLOWED) {
    const message = `Too many allowances: ${allowed.length}, at most ${MAX_ALLOWED}.`;
    problems.push({ file: "build/plain-english/idioms.ts", line: 0, message });
  }
  return problems;
}

function filesOf(root: string): string[] {
  const nested = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
      (file) => `${folder}/${file}`,
    ),
  );
  const written = [...readdirSync(root), ...nested].filter((file) =>
    /\.(?:md|[jt]sx?)$/.test(file),
  );
  return [...written.filter((file) => !SKIPPED.test(file)), LINT_RULES];
}

function sentencesOf(root: string, file: string): Sentence[] {
  const source = readFileSync(join(root, file), "utf8");
  if (file.endsWith(".md")) {
    return sentencesOfMarkdown(source);
  }
  // JSON is an expression
  const program = file.endsWith(".json") ? `(${source})` : source;
  return sentencesOfProgram(program, {
    isTest: file.startsWith("test/"),
    isJsx: file.endsWith("x"),
  });
}
