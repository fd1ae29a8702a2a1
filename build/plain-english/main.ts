import { fileURLToPath } from "node:url";

import { findProblems } from "./find-problems.ts";
import { allowed, idioms } from "./idioms.ts";

/**
 * `npm run plain-english [path…]`: lists the sentences of documents, comments, strings and test
 * titles (below the given paths) that hold an idiom of `idioms.ts`. Exit code 1 if there are any.
 */
const root = fileURLToPath(new URL("../..", import.meta.url));
const paths = process.argv.slice(2);
const problems = findProblems(root, { idioms, allowed }).filter(
  ({ file }) => paths.length === 0 || paths.some((path) => file.startsWith(path)),
);
for (const { file, line, message } of problems) {
  console.log(`${file}:${line}: ${message}`);
}
if (problems.length > 0) {
  const folders = Map.groupBy(problems, ({ file }) => file.split("/").slice(0, 2).join("/"));
  const counts = [...folders].map(([folder, { length }]) => `  ${length}  ${folder}`);
  console.log(`${problems.length} sentences hold an idiom:\n${counts.join("\n")}`);
  process.exitCode = 1;
}
