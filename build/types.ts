import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

const IMPORTED = /(?<=\bfrom |\bimport\()"(\.[^"]+)\.ts"/g;

/**
 * Writes the declarations of the public API: those of the entries and of every module that they
 * name, as TypeScript makes them. `build/tsconfig.types.json` lists the entries, too.
 */
export function writeTypes(root: string, entries: readonly string[], folder: string): void {
  const made = mkdtempSync(join(tmpdir(), "reprise-types-"));
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const project = join(root, "build/tsconfig.types.json");
    execFileSync(process.execPath, [compiler, "--project", project, "--outDir", made], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    const declared = entries.map((entry) =>
      join(made, relative("src", entry).replace(/\.ts$/, ".d.ts")),
    );
    for (const [file, text] of reachable(declared)) {
      const place = join(folder, relative(made, file));
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
  } finally {
    rmSync(made, { recursive: true });
  }
}

/** The declarations that can be reached from some files, with their relative imports. */
function reachable(from: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const waiting = [...from];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) {
      continue;
    }
    const text = readFileSync(file, "utf8");
    for (const [, path] of text.matchAll(IMPORTED)) {
      waiting.push(join(dirname(file), `${path}.d.ts`));
    }
    // TypeScript leaves `.ts` in declarations, where other compilers may not follow it
    found.set(file, text.replaceAll(IMPORTED, `"$1.js"`));
  }
  return found;
}
