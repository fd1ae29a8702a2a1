import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import php from "highlight.js/lib/languages/php";
import powershell from "highlight.js/lib/languages/powershell";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scss from "highlight.js/lib/languages/scss";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** Each language with the other names that models write. */
const LANGUAGES = [
  { name: "bash", language: bash, aliases: ["sh", "zsh"] },
  { name: "c", language: c, aliases: ["h"] },
  { name: "cpp", language: cpp, aliases: ["c++", "cc", "hpp", "cxx"] },
  { name: "csharp", language: csharp, aliases: ["cs", "c#"] },
  { name: "css", language: css, aliases: [] },
  { name: "diff", language: diff, aliases: ["patch"] },
  { name: "dockerfile", language: dockerfile, aliases: ["docker"] },
  { name: "go", language: go, aliases: ["golang"] },
  { name: "ini", language: ini, aliases: ["toml"] },
  { name: "java", language: java, aliases: [] },
  { name: "javascript", language: javascript, aliases: ["js", "jsx", "mjs", "cjs"] },
  { name: "json", language: json, aliases: ["jsonc", "json5"] },
  { name: "kotlin", language: kotlin, aliases: ["kt"] },
  { name: "lua", language: lua, aliases: [] },
  { name: "makefile", language: makefile, aliases: ["make"] },
  { name: "php", language: php, aliases: [] },
  { name: "powershell", language: powershell, aliases: ["ps1", "pwsh"] },
  { name: "python", language: python, aliases: ["py", "python3"] },
  { name: "ruby", language: ruby, aliases: ["rb"] },
  { name: "rust", language: rust, aliases: ["rs"] },
  { name: "scss", language: scss, aliases: [] },
  { name: "shell", language: shell, aliases: ["console"] },
  { name: "sql", language: sql, aliases: ["postgresql", "sqlite"] },
  { name: "swift", language: swift, aliases: [] },
  { name: "typescript", language: typescript, aliases: ["ts", "tsx", "mts", "cts"] },
  { name: "xml", language: xml, aliases: ["html", "svg", "vue", "xhtml"] },
  { name: "yaml", language: yaml, aliases: ["yml"] },
] as const;

for (const { name, language, aliases } of LANGUAGES) {
  hljs.registerLanguage(name, language);
  hljs.registerAliases([...aliases], { languageName: name });
}

/** Text with the class of its colour; null for plain text. */
export interface Run {
  readonly text: string;
  readonly kind: string | null;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/** Code in coloured runs, joined the same text; null for a language that is not known. */
export function highlight(code: string, language: string): readonly Run[] | null {
  if (hljs.getLanguage(language) === undefined) {
    return null;
  }
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  const runs = runsOf(value);
  // a library that changed the text would hide something
  return runs.map(({ text }) => text).join("") === code ? runs : null;
}

/** The library writes spans with a class and five character references, nothing else. */
function runsOf(html: string): Run[] {
  const runs: Run[] = [];
  const open: (string | null)[] = [null];
  for (const part of html.match(/<span class="[^"]*">|<\/span>|[^<]+/g) ?? []) {
    const [, kind] = /^<span class="(?:hljs-)?([\w-]*)/.exec(part) ?? [];
    if (kind !== undefined) {
      open.push(kind.replace(/_$/, ""));
    } else if (part === "</span>") {
      open.pop();
    } else {
      const text = part.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? "");
      runs.push({ text, kind: open.at(-1) ?? null });
    }
  }
  return runs;
}
