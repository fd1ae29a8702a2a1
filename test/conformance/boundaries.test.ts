import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { FOLDERS } from "../../build/folders/folders.ts";
import { makeFolder } from "../helpers/temp.ts";
import { runTool } from "../helpers/tool.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Folders that know nothing of LangChain. */
const WITHOUT_LANGCHAIN = Object.keys(FOLDERS).filter(
  (name) => !["agent", "compat", "langgraph"].includes(name),
);

/** Files that break a rule of our configuration, one rule each, and the rule. */
const violations: readonly (readonly [file: string, rule: string, source: string])[] = [
  ...[
    "process.stdout.write(text);",
    'process["stderr"].end(text);',
    "globalThis.process.stdout.cork();",
    "const { stdout } = process;\n  stdout.end(text);",
    "cli.stderr.write(text);",
    "screen.terminal.write(text);",
    "fs.writeSync(2, text);",
    "writeSync(1, text);",
  ].map((line, index) => output(`cli/output-${index}.ts`, `${line}\n`)),
  ...[
    '{ stdout } from "node:process"',
    'process from "node:process"',
    '* as tty from "node:tty"',
  ].map((what, index) => output(`core/output-${index}.ts`, "", `import ${what};\n`)),
  [
    "src/cli/json.ts",
    "json-as-text",
    "export function f(printLine: any, cli: unknown): void {\n  printLine(cli, JSON.stringify({}));\n}\n",
  ],
  [
    "src/core/used.ts",
    "used-result",
    "export function f(text: string): void {\n  decodeURIComponent(text);\n}\n",
  ],
  ...[
    'text.startsWith("may the agent ")',
    "/^call (\\d+) failed: /u.test(text)",
    "(/failed: (.+)$/.exec(text)?.[1] ?? null) !== null",
    'text === "may the agent continue"',
    'text.split(" failed: ").length > 1',
  ].map((test, index): (typeof violations)[number] => [
    `src/${["cli", "http", "client"][index % 3]}/sentence-${index}.ts`,
    "no-parsed-sentence",
    `export const f = (text: string): boolean => ${test};\n`,
  ]),
  [
    "web/list/sentence.ts",
    "no-parsed-sentence",
    "const OURS = /call \\d+ failed: /;\nexport const f = (text: string): boolean => OURS.test(text);\n",
  ],
  ...Object.keys(FOLDERS)
    .filter((name) => name !== "store")
    .flatMap((name) => [
      queries(`${name}/query.ts`, "tx: any", "tx.db"),
      queries(`${name}/named-query.ts`, "{ db }: any", 'db.selectFrom("sessions")'),
    ]),
  ...[
    "node:fs",
    "node:fs/promises",
    "node:net",
    "node:http",
    "node:https",
    "node:http2",
    "node:child_process",
    "node:sqlite",
    "node:worker_threads",
    "kysely",
    "fastify",
  ].map((target) => imports("core/a.ts", target)),
  ...WITHOUT_LANGCHAIN.flatMap((name) =>
    ["langchain", "langchain/chat_models/universal", "@langchain/core/messages", "deepagents"].map(
      (target) => imports(`${name}/a.ts`, target),
    ),
  ),
  imports("store/records/sessions/a.ts", "@langchain/core"),
  ...[
    ...Object.keys(FOLDERS).map((name) => `../../src/${name}/a.ts`),
    "../../src/index.ts",
    "../../src/entries/server.ts",
    "../../test/a.ts",
    "node:fs",
    "preact/compat",
  ].map((target, index) => ofPage(`list/wrong-${index}.ts`, target)),
  [
    "web/list/html.tsx",
    "no-danger",
    "export const a = (html: string) => <p dangerouslySetInnerHTML={{ __html: html }} />;\n",
  ],
  ["src/http/again.ts", "no-restricted-imports", `export { a } from "langchain";\n`],
  [
    "src/store/floating.ts",
    "no-floating-promises",
    "export function go(): void {\n  Promise.resolve(1);\n}\n",
  ],
  [
    "src/store/misused.ts",
    "no-misused-promises",
    "export function go(done: Promise<boolean>): number {\n  return done ? 1 : 2;\n}\n",
  ],
  [
    "src/core/switch.ts",
    "switch-exhaustiveness-check",
    `export function f(kind: "a" | "b"): number {\n  switch (kind) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}\n`,
  ],
  ["src/core/default.ts", "no-default-export", "export default 1;\n"],
  ["src/core/star.ts", "no-barrel-file", `export * from "./sessions.ts";\n`],
  ["src/core/any.ts", "no-explicit-any", "export const x = JSON.parse('1') as any;\n"],
  ["src/core/bang.ts", "no-non-null-assertion", "export const f = (x?: string): string => x!;\n"],
  ["src/core/env.ts", "no-process-env", "export const home = process.env['HOME'];\n"],
  ["src/core/console.ts", "no-console", "export function f(): void {\n  console.log(1);\n}\n"],
  ["src/core/loose.ts", "eqeqeq", "export const f = (x: string, y: string): boolean => x == y;\n"],
  [
    "src/core/cycle-a.ts",
    "no-cycle",
    `import { b } from "./cycle-b.ts";\nexport const a = (): unknown => b;\n`,
  ],
  [
    "src/core/cycle-b.ts",
    "no-cycle",
    `import { a } from "./cycle-a.ts";\nexport const b = (): unknown => a;\n`,
  ],
  [
    "src/core/type-cycle-a.ts",
    "no-cycle",
    `import type { B } from "./type-cycle-b.ts";\nexport interface A {\n  readonly b: B | null;\n}\n`,
  ],
  [
    "src/core/type-cycle-b.ts",
    "no-cycle",
    `import type { A } from "./type-cycle-a.ts";\nexport interface B {\n  readonly a: A | null;\n}\n`,
  ],
  [
    "test/only.test.ts",
    "no-focused-tests",
    `import { it } from "vitest";\nit.only("x", () => undefined);\n`,
  ],
];

/** What must stay allowed: a rule that fires everywhere proves nothing. */
const allowed: readonly (readonly [file: string, source: string])[] = [
  ...Object.entries(FOLDERS).map(([name, others]) =>
    importsFrom(`${name}/fine.ts`, ...others.map((other) => `../${other}/a.ts`)),
  ),
  importsFrom("agent/libraries.ts", "langchain"),
  [
    "web/list/fine.ts",
    `export { a } from "../../src/entries/client.ts";\nexport { h } from "preact";\n`,
  ],
  importsFrom("langgraph/libraries.ts", "@langchain/core/messages"),
  importsFrom("http/libraries.ts", "fastify"),
  [
    "src/index.ts",
    `export { a } from "./core/a.ts";\nexport type { a as b } from "./store/a.ts";\n`,
  ],
  importsFrom("compose.ts", "./agent/fine.ts", "./exchange/fine.ts", "./store/fine.ts"),
  importsFrom("main.ts", "./cli/fine.ts", "./compose.ts"),
  // sentences that a front end gets, and what is not one
  [
    "src/core/text/words.ts",
    'export const QUESTION = "may the agent continue";\nexport const why = (n: number): string => `call ${n} failed: unknown`;\n',
  ],
  [
    "src/cli/facts.ts",
    'export const f = (text: string, status: string): boolean => status === "failed" || /^--no-./.test(text) || text.startsWith("may ");\n',
  ],
  ["src/cli/process/output.ts", "export const columns = (): number => process.stdout.columns;\n"],
  [
    "src/store/query.ts",
    'export const f = (tx: { db: { selectFrom(table: string): unknown } }): unknown =>\n  tx.db.selectFrom("sessions");\n',
  ],
  [
    "src/store/write.ts",
    "export const go = (store: { write(text: string): void }): void => store.write(`x`);\n",
  ],
];

interface Diagnostic {
  readonly code: string;
  readonly severity: string;
  readonly filename: string;
}

describe("the linter's rules", () => {
  const folder = makeFolder();
  let found: readonly Diagnostic[] = [];

  beforeAll(async () => {
    cpSync(join(root, "build/lint"), join(folder.path, "build/lint"), { recursive: true });
    for (const file of [".oxlintrc.json", "tsconfig.json", "package.json"]) {
      cpSync(join(root, file), join(folder.path, file));
    }
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    for (const name of Object.keys(FOLDERS)) {
      write(folder.path, `src/${name}/a.ts`, "export const a = 1;\n");
    }
    write(folder.path, "src/core/sessions.ts", "export const a = 1;\n");
    for (const [file, ...rest] of [...violations, ...allowed]) {
      write(folder.path, file, rest.at(-1) ?? "");
    }
    const { stdout } = await runTool(
      "oxlint",
      ["--type-aware", "--deny-warnings", "--disable-nested-config", "-f", "json"],
      {
        cwd: folder.path,
      },
    );
    const report: { diagnostics: readonly Diagnostic[] } = JSON.parse(stdout);
    found = report.diagnostics;
  });
  afterAll(() => folder[Symbol.dispose]());

  const rulesOf = (file: string): string[] =>
    found
      .filter(({ filename }) => relative(folder.path, join(folder.path, filename)) === file)
      .map(({ code }) => code.replace(/^.*\((.*)\)$/, "$1"));

  it.each(violations)("%s breaks %s", (file, rule) => {
    expect(rulesOf(file)).toContain(rule);
  });

  it.each(allowed)("%s breaks none", (file) => {
    expect(rulesOf(file)).toEqual([]);
  });

  it("are all errors", () => {
    expect(new Set(found.map(({ severity }) => severity))).toEqual(new Set(["error"]));
  });
});

it("[PACK-7] what runs the graphs of others imports only types of LangGraph, which is the graph's own", () => {
  const folder = join(root, "src/agent/graph");
  const values = readdirSync(folder).filter((file) =>
    /^import (?!type )[^;]*"@langchain\/langgraph(\/[^"]*)?";/m.test(
      readFileSync(join(folder, file), "utf8"),
    ),
  );
  expect(values).toEqual([]);
});

function imports(file: string, target: string): readonly [string, string, string] {
  const name = target.replace(/^(\.\.\/)+|\.ts$/g, "").replace(/\W+/g, "-");
  const at = `src/${file.replace(/a\.ts$/, `imports-${name}.ts`)}`;
  return [at, "no-restricted-imports", source([target])];
}

function ofPage(file: string, target: string): readonly [string, string, string] {
  return [`web/${file}`, "no-restricted-imports", source([target])];
}

function output(file: string, line: string, start = ""): readonly [string, string, string] {
  const declared = "declare const cli: any, screen: any, fs: any, writeSync: any;\n";
  const used = `${declared}export function f(text: string): void {\n  ${line}}\n`;
  return [`src/${file}`, "one-output", start + used];
}

function queries(file: string, given: string, query: string): readonly [string, string, string] {
  return [
    `src/${file}`,
    "only-in-store",
    `export function f(${given}): unknown {\n  return ${query};\n}\n`,
  ];
}

function importsFrom(file: string, ...targets: string[]): readonly [string, string] {
  return [`src/${file}`, source(targets)];
}

function source(targets: readonly string[]): string {
  const names = targets.map((_, index) => `n${index}`);
  return `${targets
    .map((target, index) => `import * as n${index} from "${target}";\n`)
    .join("")}export const used: unknown[] = [${names.join(", ")}];\n`;
}

function write(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}
