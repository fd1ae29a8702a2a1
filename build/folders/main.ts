import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { findProblems } from "./find-problems.ts";

/** `npm run folders`: lists what breaks the order of the folders of `src` and `web`. Exit code 1 if anything does. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const files = ["src", "web"].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(top, file).replaceAll("\\", "/")),
);
const problems = findProblems(
  new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")])),
);
for (const problem of problems) {
  console.log(problem);
}
process.exitCode = problems.length === 0 ? 0 : 1;
