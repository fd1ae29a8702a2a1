import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { RolldownOutput } from "rolldown";

const CHECK = `import { nodeTooOld } from "../../bin/node-version.js";

if (nodeTooOld !== null) {
  throw new Error(nodeTooOld);
}
`;

/**
 * Writes what `import "reprise"` and `import "reprise/…"` load: a check of Node.js' version, then the
 * bundle under its names. Modules run in the order in which they are imported, so an older Node.js runs
 * the check and nothing of the bundle, as long as it can parse it. No top-level await:
 * `require("reprise")` works too.
 */
export function writeLibraryEntries(
  folder: string,
  names: readonly string[],
  { output }: RolldownOutput,
): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "node-version.js"), CHECK);
  for (const name of names) {
    const bundle = output.find((file) => file.type === "chunk" && file.name === name);
    const exported = bundle?.type === "chunk" ? bundle.exports.toSorted().join(", ") : "";
    writeFileSync(
      join(folder, `${name}.js`),
      `import "./node-version.js";\nexport { ${exported} } from "../library/${name}.js";\n`,
    );
  }
}
