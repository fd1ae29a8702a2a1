import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { findProblems, idiomsIn } from "../../build/plain-english/find-problems.ts";
import { allowed, idioms } from "../../build/plain-english/idioms.ts";
import { sentencesOfMarkdown, sentencesOfProgram } from "../../build/plain-english/sentences.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const mend = idioms.filter(({ name }) => name === "mend");

describe("the idioms that the project does not use", () => {
  it.each(idioms)("$name is found", (idiom) => {
    expect(idiom.found.filter((text) => idiomsIn(text, [idiom]).length === 0)).toEqual([]);
  });

  it.each(idioms)("$name is not found in plain English", (idiom) => {
    expect((idiom.plain ?? []).filter((text) => idiomsIn(text, [idiom]).length > 0)).toEqual([]);
  });

  it("have a reason for each exception", () => {
    expect(allowed.filter(({ reason }) => reason.length < 15)).toEqual([]);
  });
});

describe("the sentences that are checked", () => {
  it("are those of comments and strings, with their lines", () => {
    const program = [
      "/** First line,",
      " * second line. Third. */",
      "const text = 'One ' + `two ${1} three.`; // Last",
      "// and more.",
      "sql`select where it stands`;",
      "const query = 'select a from b where c';",
    ].join("\n");
    expect(sentencesOfProgram(program)).toEqual([
      { line: 1, text: "First line, second line." },
      { line: 2, text: "Third." },
      { line: 3, text: "Last and more." },
      { line: 3, text: "One two … three." },
    ]);
  });

  it("are comments and titles in a test", () => {
    const program = [
      "describe('a group', () => {",
      "  // a comment",
      "  it.each([1])('a title', () => expect('not this').toBe(1));",
      "});",
    ].join("\n");
    expect(sentencesOfProgram(program, { isTest: true }).map(({ text }) => text)).toEqual([
      "a comment",
      "a group",
      "a title",
    ]);
  });

  it("are those of Markdown outside of code blocks", () => {
    const document = "# Title\n\nOne\ntwo. Three.\n- item\n\n```sh\ncode\n```\n";
    expect(sentencesOfMarkdown(document)).toEqual([
      { line: 1, text: "# Title" },
      { line: 3, text: "One two." },
      { line: 4, text: "Three." },
      { line: 5, text: "- item" },
    ]);
  });
});

describe("the check of a project", () => {
  const allowance = { file: "README.md", text: "mend", reason: "It is about clothes." };

  it("names file, line and what to write", () => {
    expect(findProblems(project("One.\nWe mend it.\n"), { idioms: mend, allowed: [] })).toEqual([
      { file: "README.md", line: 2, message: 'We mend it.\n    "mend": write fix' },
    ]);
  });

  it("reads plain JavaScript, personas and the linter's messages, but no recorded data", () => {
    const root = project("One.\n");
    mkdirSync(join(root, "test/fixtures/programs"), { recursive: true });
    for (const file of ["bin/a.js", "test/fixtures/programs/b.ts", "test/fixtures/c.ts"]) {
      writeFileSync(join(root, file), "// It mends this.\n");
    }
    writeFileSync(join(root, "personas/d.md"), "You mend it.\n");
    writeFileSync(join(root, ".oxlintrc.json"), '{\n  "message": "mend it"\n}\n');
    const found = findProblems(root, { idioms: mend, allowed: [] });
    expect(found.map(({ file, line }) => `${file}:${line}`).sort()).toEqual([
      ".oxlintrc.json:2",
      "bin/a.js:1",
      "personas/d.md:1",
      "test/fixtures/programs/b.ts:1",
    ]);
  });

  it("reads the comments, texts and attributes of the web page", () => {
    const root = project("One.\n");
    const lines = [
      "/** It mends this. */",
      "export const Hint = () => (",
      "  <p title='Mend it here'>",
      "    Mended for {name}, and",
      "    then some.",
      "  </p>",
      ");",
    ];
    writeFileSync(join(root, "web/Hint.tsx"), lines.join("\n"));
    const found = findProblems(root, { idioms: mend, allowed: [] });
    expect(found.map(({ file, line }) => `${file}:${line}`)).toEqual([
      "web/Hint.tsx:1",
      "web/Hint.tsx:3",
      "web/Hint.tsx:4",
    ]);
  });

  it("lets allowed sentences pass", () => {
    const root = project("We mend it.\n");
    expect(findProblems(root, { idioms: mend, allowed: [allowance] })).toEqual([]);
  });

  it("reports an allowance that nothing needs", () => {
    const root = project("We fix it.\n");
    expect(findProblems(root, { idioms: mend, allowed: [allowance] })).toEqual([
      { file: "README.md", line: 0, message: "Unused allowance, remove it: mend" },
    ]);
  });

  it("reports more than 20 allowances", () => {
    const many = Array.from({ length: 21 }, (_, index) => ({
      ...allowance,
      text: `mend ${index}.`,
    }));
    const root = project(many.map(({ text }) => `We ${text}`).join("\n"));
    expect(findProblems(root, { idioms: mend, allowed: many })).toEqual([
      {
        file: "build/plain-english/idioms.ts",
        line: 0,
        message: "Too many allowances: 21, at most 20.",
      },
    ]);
  });
});

function project(readme: string): string {
  const root = temporaryFolder();
  for (const folder of ["src", "web", "test", "bench", "bin", "build", "docs", "personas"]) {
    mkdirSync(join(root, folder));
  }
  writeFileSync(join(root, "README.md"), readme);
  writeFileSync(join(root, ".oxlintrc.json"), "{}");
  return root;
}
