import { describe, expect, it } from "vitest";

import { findProblems } from "../../build/folders/find-problems.ts";
import { FOLDERS, KNOTS, MAX_FILES, ORDER } from "../../build/folders/folders.ts";

/** Problems of files that import each other as given: from a path to paths relative to it. */
function problemsOf(files: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return findProblems(
    new Map(
      Object.entries(files).map(([file, targets]) => [
        file,
        targets.map((target) => `import type { A } from "${target}";\n`).join(""),
      ]),
    ),
  );
}

const pairs = Object.keys(FOLDERS).flatMap((from) =>
  Object.keys(FOLDERS)
    .filter((to) => to !== from)
    .map((to) => ({ from, to, allowed: FOLDERS[from]?.includes(to) === true })),
);

describe("imports between folders of src", () => {
  it.each(pairs.filter(({ allowed }) => !allowed))("of $to in $from are found", ({ from, to }) => {
    expect(problemsOf({ [`src/${from}/a.ts`]: [`../${to}/b.ts`] })).toEqual([
      `src/${from}/a.ts imports src/${to}/b.ts: ${from} may not import ${to}`,
    ]);
  });

  it.each(pairs.filter(({ allowed }) => allowed))("of $to in $from are allowed", ({ from, to }) => {
    expect(problemsOf({ [`src/${from}/a.ts`]: [`../${to}/b.ts`] })).toEqual([]);
  });

  it.each(["compose.ts", "main.ts", "index.ts", "entries/server.ts"])(
    "of %s in a folder are found, and it may import every folder",
    (file) => {
      expect(problemsOf({ "src/http/a.ts": [`../${file}`] })).toHaveLength(1);
      const up = file.includes("/") ? ".." : ".";
      const all = Object.keys(FOLDERS).map((name) => `${up}/${name}/a.ts`);
      expect(problemsOf({ [`src/${file}`]: all })).toEqual([]);
    },
  );

  it("of a folder that has no name in the list are found", () => {
    expect(problemsOf({ "src/new/a.ts": ["../core/b.ts"] })).toHaveLength(1);
  });

  it.each([
    ['import { a } from "../agent/b.ts";', "of a value"],
    ['import type { A } from "../agent/b.ts";', "of a type"],
    ['export { a } from "../agent/b.ts";', "passed on"],
    ['const a = await import("../agent/b.ts");', "when it runs"],
    ['type A = import("../agent/b.ts").A;', "in a type"],
    ['const a = new URL("../agent/b.ts", import.meta.url);', "by an address"],
  ])("are found: %s", (text) => {
    expect(findProblems(new Map([["src/http/a.ts", text]]))).toHaveLength(1);
  });
});

describe("the order of folders", () => {
  const orders = Object.entries(ORDER).flatMap(([folder, names]) =>
    names.slice(1).map((outer, index) => ({ folder, inner: names[index] ?? "", outer })),
  );

  it.each(orders)("in $folder has $inner before $outer", ({ folder, inner, outer }) => {
    const file = `${folder}/${inner}/a.ts`;
    expect(problemsOf({ [file]: [`../${outer}/b.ts`] })).toEqual([
      `${file} imports ${folder}/${outer}/b.ts: ${inner} comes before ${outer} in ${folder}`,
    ]);
    expect(problemsOf({ [`${folder}/${outer}/b.ts`]: [`../${inner}/a.ts`] })).toEqual([]);
  });

  it("names every folder", () => {
    expect(problemsOf({ "src/store/new/a.ts": [] })).toEqual([
      "src/store/new has no place in the order of src/store",
    ]);
  });
});

describe("circles of folders", () => {
  it("are found", () => {
    expect(
      problemsOf({
        "src/http/a/one.ts": ["../b/two.ts"],
        "src/http/b/two.ts": [],
        "src/http/b/three.ts": ["../a/four.ts"],
        "src/http/a/four.ts": [],
      }),
    ).toEqual(["src/http: a, b import each other, also by way of files beside them"]);
  });

  it("are found by way of a file beside them", () => {
    expect(
      problemsOf({
        "src/http/a/one.ts": ["../beside.ts"],
        "src/http/beside.ts": ["./a/two.ts"],
        "src/http/a/two.ts": [],
      }),
    ).toHaveLength(1);
  });

  it("are none if files beside a folder are above and below it", () => {
    expect(
      problemsOf({
        "src/http/app.ts": ["./a/one.ts"],
        "src/http/a/one.ts": ["../below.ts"],
        "src/http/below.ts": [],
      }),
    ).toEqual([]);
  });

  it.each(Object.keys(KNOTS))("are accepted in %s, which says why", (folder) => {
    const files = {
      [`${folder}/a/one.ts`]: ["../b/two.ts"],
      [`${folder}/b/two.ts`]: ["../a/three.ts"],
    };
    expect(problemsOf(files)).toEqual([]);
    expect(KNOTS[folder]).toMatch(/\w+ \w+/);
  });
});

it("more files in a folder than a reader sees at once are found", () => {
  const folder = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`web/list/a${index}.ts`, []]));
  expect(problemsOf(folder(MAX_FILES))).toEqual([]);
  expect(problemsOf(folder(MAX_FILES + 1))).toHaveLength(1);
});
