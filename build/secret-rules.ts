import { readFile, writeFile } from "node:fs/promises";

/*
 * `npm run secret-rules -- <gitleaks.toml> <commit> <date>` writes `src/core/redact/gitleaks-rules.ts` from the rules
 * of gitleaks (https://github.com/gitleaks/gitleaks, `config/gitleaks.toml`, MIT license).
 */

/** Rules that this project has in another form, because theirs need a list of words or take quadratic time here. */
const OTHERWISE = new Set([
  "generic-api-key",
  "private-key",
  "kubernetes-secret-yaml",
  "curl-auth-header",
  "curl-auth-user",
]);

interface Rule {
  readonly kind: string;
  readonly pattern: string;
  readonly flags: string;
  readonly keywords: readonly string[];
  readonly entropy: number;
}

function ruleOf(block: string): Rule | null {
  const id = /^id = "(.+)"$/m.exec(block)?.[1];
  const regex = /^regex = '''(.+)'''$/m.exec(block)?.[1];
  if (id === undefined || regex === undefined || OTHERWISE.has(id)) {
    return null;
  }
  const list = /^keywords = \[([^\]]*)\]/m.exec(block)?.[1] ?? "";
  const keywords = [...list.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word.toLowerCase());
  const entropy = Number(/^entropy = ([\d.]+)$/m.exec(block)?.[1] ?? 0);
  const isInsensitive = regex.startsWith("(?i)");
  const pattern = translated(isInsensitive ? regex.slice(4) : regex);
  const flags = isInsensitive ? "dgi" : "dg";
  void new RegExp(pattern, flags);
  return { kind: kindOf(id), pattern, flags, keywords, entropy };
}

function kindOf(id: string): string {
  return id.replaceAll("-", " ").replace("personnal", "personal");
}

/** Go's syntax in JavaScript's. What comes before a name and is not replaced is left out: it only costs time. */
function translated(regex: string): string {
  const plain = regex
    .replace(/^\[\\w\.-\]\{0,50\}\?/, "")
    .replaceAll("[[:alnum:]]", "[A-Za-z0-9]")
    .replaceAll("[:alnum:]", "A-Za-z0-9")
    .replaceAll("(?P<", "(?<")
    // as it is, this takes quadratic time
    .replaceAll(".{8,}", '[^"\\n]{8,200}')
    .replaceAll(String.raw`\z`, "$");
  return withScopes(plain);
}

/** `(?i)` counts up to the end of its group: JavaScript has a group for it. */
function withScopes(regex: string): string {
  let out = "";
  let isClass = false;
  const open: number[] = [0];
  for (let at = 0; at < regex.length; at += 1) {
    const flags = isClass ? null : /^\(\?([is]+)\)/.exec(regex.slice(at));
    const letter = regex.charAt(at);
    if (letter === "\\") {
      out += regex.slice(at, at + 2);
      at += 1;
    } else if (flags !== null) {
      out += `(?${flags[1]}:`;
      open.push((open.pop() ?? 0) + 1);
      at += flags[0].length - 1;
    } else {
      isClass = isClass ? letter !== "]" : letter === "[";
      if (!isClass && letter === "(") {
        open.push(0);
      }
      out += !isClass && letter === ")" ? ")".repeat((open.pop() ?? 0) + 1) : letter;
    }
  }
  return out + ")".repeat(open[0] ?? 0);
}

const [file = "", commit = "", date = ""] = process.argv.slice(2);
const [, ...blocks] = (await readFile(file, "utf8")).split("[[rules]]");
const rules = blocks.map(ruleOf).filter((rule) => rule !== null);
const lines = rules.map((rule) => `  ${JSON.stringify(rule)},\n`);
await writeFile(
  "src/core/redact/gitleaks-rules.ts",
  `/*
 * Written by \`build/secret-rules.ts\`. Forms of secrets from gitleaks, https://github.com/gitleaks/gitleaks,
 * commit ${commit} of ${date}, config/gitleaks.toml: MIT License, Copyright (c) 2019 Zachary Rice.
 */

/** Form of a secret. Its first group that matches is the secret, or all of it if it has no group. */
export interface SecretRule {
  /** Name for a person. */
  readonly kind: string;
  readonly pattern: string;
  readonly flags: string;
  /** One of these is in each text with such a secret, in lower case; none if any text may have one. */
  readonly keywords: readonly string[];
  /** Bits of a character that such a secret has at least. */
  readonly entropy: number;
}

export const GITLEAKS_RULES: readonly SecretRule[] = [
${lines.join("")}];
`,
);
process.stdout.write(`${rules.length} rules\n`);
