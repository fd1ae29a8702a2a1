import type { Theme } from "../text/theme.ts";
import type * as languages from "./languages.ts";
import type { Run } from "./runs.ts";

/** Colours of code. The library is loaded when the first language is named. */
export interface Highlighter {
  readonly state: "unloaded" | "loading" | "ready" | "failed";
  /** Loads the library, once. Never rejects: without it, code is plain. */
  load(): Promise<void>;
  /** False if code is not coloured at all. Else begins to load the library. */
  begin(): boolean;
  /** A line after the lines of the context; the context of the next one. */
  line(
    language: string,
    context: readonly string[],
    text: string,
  ): { readonly runs: readonly Run[]; readonly context: readonly string[] };
}

/** The language of a name that models write; null for one that cannot be coloured. */
export function languageOf(name: string): string | null {
  return LANGUAGES.get(name.toLowerCase()) ?? null;
}

type Library = typeof languages;

/** Lines before a line, of which the first one is kept: it begins the comment. */
const MAX_CONTEXT_LINES = 40;
/** Characters of a line and those before it: the time of some languages grows with the square. */
const MAX_CODE = 3000;

export function createHighlighter(theme: Theme): Highlighter {
  let library: Library | null = null;
  let loading: Promise<void> | null = null;
  let isFailed = false;
  const styles = stylesOf(theme);
  const load = (): Promise<void> =>
    (loading ??= import("./languages.ts").then(
      (loaded) => {
        library = loaded;
      },
      () => {
        isFailed = true;
      },
    ));
  return {
    get state() {
      return library !== null
        ? "ready"
        : isFailed
          ? "failed"
          : loading === null
            ? "unloaded"
            : "loading";
    },
    load,
    begin: () => {
      if (theme.name === "none" || isFailed) {
        return false;
      }
      void load();
      return true;
    },
    line: (language, context, text) => {
      const plain = { runs: [{ text, style: null }], context: [] };
      if (library === null) {
        return plain;
      }
      const lines = bounded([...context, text]);
      const { html, isNested } = library.highlight(language, lines.join("\n"));
      const runs = lastLine(html, lines.length - 1, styles);
      // a library that changes the text would hide something
      return runs.map((run) => run.text).join("") === text
        ? { runs, context: isNested ? lines : [] }
        : plain;
    },
  };
}

/** The last lines, after the first one if it is not too long. */
function bounded([first = "", ...others]: readonly string[]): readonly string[] {
  const last = others.slice(1 - MAX_CONTEXT_LINES);
  let size = first.length + last.reduce((total, { length }) => total + length, 0);
  while (size > MAX_CODE && last.length > 1) {
    size -= last.shift()?.length ?? 0;
  }
  return size > MAX_CODE && last.length > 0 ? last : [first, ...last];
}

type Style = (text: string) => string;

/** By the classes of highlight.js, before the first `_` or space. */
function stylesOf(theme: Theme): ReadonlyMap<string, Style> {
  const names: readonly (readonly [Style, string])[] = [
    [theme.accent, "keyword selector-tag name tag section doctag"],
    [theme.success, "string regexp char subst-string quote link"],
    [theme.dim, "comment meta"],
    [theme.warning, "number literal symbol bullet"],
    [theme.code, "built_in type attr attribute property variable template-variable selector-class"],
    [theme.bold, "title strong"],
    [theme.italic, "emphasis"],
    [theme.added, "addition"],
    [theme.removed, "deletion"],
  ];
  return new Map(names.flatMap(([style, list]) => list.split(" ").map((name) => [name, style])));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/** The runs after so many line feeds of the library's HTML, which has spans and five character references only. */
function lastLine(html: string, skipped: number, styles: ReadonlyMap<string, Style>): Run[] {
  const runs: Run[] = [];
  const open: (Style | null)[] = [null];
  let line = 0;
  for (const part of html.match(/<span class="[^"]*">|<\/span>|[^<]+/g) ?? []) {
    const [, name] = /^<span class="(?:hljs-)?([^" ]*)/.exec(part) ?? [];
    if (name !== undefined) {
      open.push(styles.get(name) ?? styles.get(name.replace(/_$/, "")) ?? open.at(-1) ?? null);
    } else if (part === "</span>") {
      open.pop();
    } else {
      for (const [at, text] of part.split("\n").entries()) {
        line += at > 0 ? 1 : 0;
        if (line === skipped && text !== "") {
          const plain = text.replace(
            /&(?:amp|lt|gt|quot|#x27);/g,
            (entity) => ENTITIES[entity] ?? "",
          );
          runs.push({ text: plain, style: open.at(-1) ?? null });
        }
      }
    }
  }
  return runs;
}

/** Names that models write, and the languages that they mean. */
const LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bash: "bash sh zsh",
    c: "c h",
    cpp: "cpp c++ cc hpp cxx",
    csharp: "csharp cs c#",
    css: "css",
    diff: "diff patch",
    dockerfile: "dockerfile docker",
    go: "go golang",
    ini: "ini toml",
    java: "java",
    javascript: "javascript js jsx mjs cjs",
    json: "json jsonc json5",
    kotlin: "kotlin kt",
    lua: "lua",
    makefile: "makefile make",
    php: "php",
    powershell: "powershell ps1 pwsh",
    python: "python py python3",
    ruby: "ruby rb",
    rust: "rust rs",
    scss: "scss",
    shell: "shell console",
    sql: "sql postgresql sqlite",
    swift: "swift",
    typescript: "typescript ts tsx mts cts",
    xml: "xml html svg vue xhtml",
    yaml: "yaml yml",
  }).flatMap(([language, names]) => names.split(" ").map((name) => [name, language])),
);
