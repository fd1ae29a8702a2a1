import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = [
  "docs/ARCHITECTURE.md",
  "docs/decisions.md",
  "docs/maintaining.md",
  "CONTRIBUTING.md",
];
/** Files that a build, a user or a machine has. */
const ELSEWHERE = /^(?:\.reprise|\.git|dist|node_modules|\.\.?|AGENTS\.md)(?:\/|$)/;

/** Every file and folder of the program, below its top. */
const paths = [
  "src",
  "web",
  "test",
  "build",
  "bench",
  "bin",
  "docs",
  "schemas",
  "personas",
].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) =>
    join(folder, path),
  ),
);

/** How a name in a page fits the files: below the top, below `src/`, or as the end of exactly one path. */
function isThere(name: string): boolean {
  const path = name.replace(/\/$/, "");
  return (
    existsSync(join(ROOT, path)) ||
    existsSync(join(ROOT, "src", path)) ||
    paths.filter((each) => each.endsWith(`/${path}`)).length === 1
  );
}

/** What a page names in code: `store/store.ts`, `http/guards/`. */
function namesIn(page: string): string[] {
  const prose = readFileSync(join(ROOT, page), "utf8").replaceAll(/^```.*?^```$/gms, "");
  return [...prose.matchAll(/`((?:[\w.@-]+\/)*[\w.@-]+(?:\.(?:tsx?|js|json|md|txt)|\/))`/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !ELSEWHERE.test(name));
}

it.each(PAGES)("[DOC-12] %s names files and folders that exist", (page) => {
  expect(namesIn(page).filter((name) => !isThere(name))).toEqual([]);
});

it("[DOC-12] the pages name files", () => {
  expect(namesIn("docs/ARCHITECTURE.md").length).toBeGreaterThan(100);
});

it("[DOC-12] the picture of the folders in docs/ARCHITECTURE.md is that of src/", () => {
  const page = readFileSync(join(ROOT, "docs/ARCHITECTURE.md"), "utf8");
  const [, picture = ""] = /^```\nsrc\/\n(.*?)^```$/ms.exec(page) ?? [];
  const named = [...picture.matchAll(/^ {2}([\w.-]+)/gm)].map(([, name = ""]) => name);
  expect(named.toSorted()).toEqual(readdirSync(join(ROOT, "src")).toSorted());
  const folders = [...picture.matchAll(/(?<=[ (])([a-z-]+)\//g)].map(([, name = ""]) => name);
  const known = new Set([...paths, ...readdirSync(ROOT)].map((path) => basename(path)));
  expect(folders.filter((name) => !known.has(name) && !ELSEWHERE.test(name))).toEqual([]);
});
