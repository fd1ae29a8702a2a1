import type { GitUser } from "./ask-git.ts";

/** A word that git's configuration has, which can be the path of a file or folder. */
export interface NamedWord {
  readonly word: string;
  /** `any`: all that is there or could be. `file`: only a file that is there. `new`: no folder that is there. */
  readonly counts: "any" | "file" | "new";
}

/** Characters that end a word in the language of the shell, and in options such as `--file=x`. */
const BETWEEN = /[\s"'`;|&(){}<>,=:\\!]+/;
/** A word with its quotes. */
const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'`\\;&|<>()])+/gs;
const QUOTED = /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs;
const HOME = /\$(?:HOME\b|\{HOME\})/g;
/** Git runs most commands there. */
const TOP =
  /\$\(git rev-parse --show-(?:toplevel|cdup)\)|`git rev-parse --show-(?:toplevel|cdup)`/g;

const INTERPRETERS =
  /^(?:.*\/)?(?:\.|source|(?:ba|da|z|k|fi)?sh|node|deno|bun|python[\d.]*|perl|ruby|php|lua)$/;
const STARTERS = /^(?:.*\/)?(?:exec|env)$/;
const JAVASCRIPT = /^(?:.*\/)?(?:node|bun)$/;
const CHANGES_FOLDER = /^(?:cd|pushd|-C|--chdir)$/;
const MAX_WORD = 4096;
const MAX_FOLDERS = 16;

/**
 * The words of a command that can be files. A program without a slash is looked up in `PATH`. With the counts `any`, its
 * arguments are meant too: as `file` if nothing says that they are paths.
 */
export function commandWords(
  value: string,
  counts: NamedWord["counts"],
  { home }: GitUser,
): NamedWord[] {
  // a function, because `$` means something in a text
  const text = value.replace(HOME, () => home).replace(TOP, ".");
  const isPossible = (word: string): boolean => word !== "" && word.length <= MAX_WORD;
  const lists = [text.split(BETWEEN), (text.match(WORD) ?? []).map(unquoted)].map((words) =>
    words.filter(isPossible),
  );
  const found = lists.flatMap((words) =>
    words.flatMap((_, at) => wordsAt(words, at, counts).filter(({ word }) => isPossible(word))),
  );
  const [all = []] = lists;
  const inPath = lists.flatMap((words) => words.flatMap(pathFolders)).slice(0, MAX_FOLDERS);
  const inFolders = lists.flatMap(changedFolders).slice(0, MAX_FOLDERS);
  const joined = [...inPath, ...inFolders].flatMap((folder) =>
    found.flatMap((each) =>
      /^[$/~]/.test(each.word) ? [] : [{ ...each, word: `${folder}/${each.word}` }],
    ),
  );
  const programs = inPath.flatMap((folder) => [
    ...(folder.includes("node_modules") ? [] : [{ word: folder, counts }]),
    ...all
      .filter((word) => /^\w[^/]*$/.test(word))
      .map((word) => ({ word: `${folder}/${word}`, counts })),
  ]);
  const isOnePath = text.includes("/") && !text.includes("\n") && isPossible(text);
  const whole = isOnePath ? [{ word: text, counts: "file" } as const] : [];
  return [...whole, ...found, ...joined, ...programs];
}

function unquoted(word: string): string {
  return word.replace(
    QUOTED,
    (_, double?: string, single?: string, escaped?: string) =>
      double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? "",
  );
}

function pathFolders(word: string): string[] {
  const [, value] = /^PATH=(.*)$/s.exec(word) ?? [];
  return (value ?? "").split(":").filter((folder) => folder !== "" && !folder.startsWith("$"));
}

function changedFolders(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const [, attached] = /^(?:--chdir=|-C)(.+)$/s.exec(word) ?? [];
    const isFolder = CHANGES_FOLDER.test(words[at - 1] ?? "") && !word.startsWith("-");
    return attached === undefined ? (isFolder ? [word] : []) : [attached];
  });
}

function wordsAt(
  words: readonly string[],
  at: number,
  counts: NamedWord["counts"],
): readonly NamedWord[] {
  const word = words[at] ?? "";
  if (word.startsWith("%")) {
    return [];
  }
  if (word.startsWith("-")) {
    return optionWords(word, counts);
  }
  const before = words.slice(0, at);
  const program = before.findLast((each) => !/^(?:-|\w+=)/.test(each)) ?? "";
  const found = word.includes("/")
    ? pathWords(word, counts)
    : at === 0 || /^[$.]+$/.test(word)
      ? []
      : bareWords(word, { before, program, counts });
  const isModule = found.length > 0 && JAVASCRIPT.test(program);
  return isModule ? [...found, { word: `${word}.js`, counts: "new" }] : found;
}

/** The value of an option: `--file=x`, `-Fx`. */
function optionWords(option: string, counts: NamedWord["counts"]): NamedWord[] {
  const [, long, short] = /^(?:--?[\w-]+=(.+)|-\w([^=-].*))$/s.exec(option) ?? [];
  const word = long ?? short ?? "";
  return word.includes("/")
    ? pathWords(word, counts)
    : word !== "" && counts === "any"
      ? [{ word, counts: "new" }]
      : [];
}

interface BareWord {
  readonly before: readonly string[];
  /** The part before it, without options. */
  readonly program: string;
  readonly counts: NamedWord["counts"];
}

function bareWords(word: string, { before, program, counts }: BareWord): NamedWord[] {
  const last = before.at(-1) ?? "";
  if (last === "-m" && before.some((each) => each.includes("py"))) {
    const module = word.replaceAll(".", "/");
    return [
      { word: module, counts },
      { word: `${module}.py`, counts: "new" },
    ];
  }
  if (INTERPRETERS.test(program)) {
    const isText = /^-\w*c$/.test(last);
    return isText ? [] : [{ word, counts: counts === "any" ? "any" : "new" }];
  }
  if (/\.\w+$/.test(word) || STARTERS.test(last)) {
    return [{ word, counts: "new" }];
  }
  const isOption = /^--?\w/.test(last);
  return counts === "any" ? [{ word, counts: isOption ? "new" : "file" }] : [];
}

function pathWords(path: string, counts: NamedWord["counts"]): NamedWord[] {
  const [, assigned] = /^\w+=(.+)$/s.exec(path) ?? [];
  return [path, ...(assigned === undefined ? [] : [assigned])].flatMap((word) =>
    withRest(word, counts),
  );
}

function withRest(word: string, counts: NamedWord["counts"]): NamedWord[] {
  // the first name can be a variable, or what a shell puts in its place
  const rest = /^[$/]/.test(word) ? word.replace(/^[^/]*\/+/, "") : "";
  return [{ word, counts }, ...(rest === "" ? [] : [{ word: rest, counts }])];
}
