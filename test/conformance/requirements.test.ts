import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["docs/protocol", "docs/acceptance"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => join(root, folder, name)),
);
const promised = pages.map((page) => readFileSync(page, "utf8")).join("\n");

describe("the numbered promises of docs/protocol and docs/acceptance", () => {
  const required = requirementsOf(promised);
  const cited = citations();

  it("exist", () => {
    expect(required.length).toBeGreaterThanOrEqual(1000);
  });

  it("are in one file for each kind", () => {
    const files = pages.map((page) => requirementsOf(readFileSync(page, "utf8")).map(kindOf));
    const listed = files.flatMap((kinds) => [...new Set(kinds)]);
    expect(listed.filter((kind, index) => listed.indexOf(kind) !== index)).toEqual([]);
  });

  it("have unique numbers", () => {
    expect(required.filter((id, index) => required.indexOf(id) !== index)).toEqual([]);
  });

  it("are each cited by the title of a test", () => {
    expect(required.filter((id) => !cited.has(id))).toEqual([]);
  });

  it("are all that tests cite", () => {
    expect([...cited].filter(([id]) => !required.includes(id))).toEqual([]);
  });
});

describe("the reader of requirements", () => {
  it("takes them from the beginning of list items only", () => {
    expect(
      requirementsOf("- **HTTP-12** says\n* **CLI-3** no\ntext **STORE-1**\n- **HTTP-12** again\n"),
    ).toEqual(["HTTP-12", "HTTP-12"]);
  });

  it("takes citations from titles of tests that run", () => {
    expect(
      citationsOf(`
        // [STORE-1] in a comment
        it("[STORE-2] [STORE-3] in a title", () => {});
        it.each([1])(
          "[STORE-4] on a separate line", () => {});
        it.skip("[STORE-5] is skipped", () => {});
        describe(\`[CLI-1] of a group\`, () => {});
        const list = required["STORE-6"];
      `),
    ).toEqual(["STORE-2", "STORE-3", "STORE-4", "CLI-1"]);
  });
});

/** `- **HTTP-12** …` at the beginning of a line. */
function requirementsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id = ""]) => id);
}

/** `HTTP` of `HTTP-12`. */
function kindOf(id: string): string {
  return id.replace(/-\d+$/, "");
}

/** Every cited requirement, with the files that cite it. */
function citations(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const file of readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".test.ts") || file.endsWith("requirements.test.ts")) {
      continue;
    }
    for (const id of citationsOf(readFileSync(join(root, "test", file), "utf8"))) {
      cited.set(id, [...(cited.get(id) ?? []), file]);
    }
  }
  return cited;
}

/** A title begins with its citations: `"[STORE-2] [STORE-3] keeps …"`. */
function citationsOf(source: string): string[] {
  return source
    .split("\n")
    .filter((line) => !/^\s*(\/\/|\/?\*)|\.(skip|todo)\b/.test(line))
    .flatMap((line) => [...line.matchAll(/["'`]((?:\[[A-Z]+-\d+\] ?)+)/g)])
    .flatMap(([, ids = ""]) => [...ids.matchAll(/[A-Z]+-\d+/g)].map(([id]) => id));
}
