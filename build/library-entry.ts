import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { RolldownOutput } from "rolldown";

/** The bundle of `src/index.ts`, without `.js`. */
export const LIBRARY = "library";

const CHECK = `import { nodeTooOld } from "../../bin/node-version.js";

if (nodeTooOld !== null) {
  throw new Error(nodeTooOld);
}
`;

/**
 * Writes what `import "reprise"` loads: a check of Node.js' version, then the bundle under its names.
 * Modules run in the order in which they are imported, so an older Node.js runs the check and nothing
 * of the bundle, as long as it can parse it. No top-level await: `require("reprise")` works too.
 */
export function writeLibraryEntry(folder: string, { output }: RolldownOutput): void {
  const bundle = output.find((file) => file.type === "chunk" && file.name === LIBRARY);
  const names = bundle?.type === "chunk" ? bundle.exports : [];
  writeFileSync(join(folder, "node-version.js"), CHECK);
  writeFileSync(
    join(folder, "index.js"),
    `import "./node-version.js";\nexport { ${names.toSorted().join(", ")} } from "./${LIBRARY}.js";\n`,
  );
}
