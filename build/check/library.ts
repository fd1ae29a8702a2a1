import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readLibraryPage } from "./documented.ts";
import { run } from "./run.ts";

/**
 * Compiles the programs of `docs/library.md` that need no LangChain with each way of finding modules that a user may have,
 * and runs them in a folder that the package is installed in.
 */
export function tryLibrary(
  folder: string,
  { root, node, typescript }: { root: string; node: string; typescript: string },
): void {
  const { programs: all, schema } = readLibraryPage(root);
  const programs = all.filter(({ withLangChain }) => !withLangChain);
  const options = { cwd: folder, env: { HOME: folder, PATH: "/nowhere" } };
  mkdirSync(join(folder, ".reprise/schemas"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, ".reprise/schemas/note.json"), schema);
  for (const [index, { code }] of programs.entries()) {
    writeFileSync(join(folder, `program-${index}.ts`), code);
  }
  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["node20", "node16"],
    ["esnext", "bundler"],
  ]) {
    writeFileSync(join(folder, "tsconfig.json"), settings({ module, moduleResolution }));
    run([node, typescript, "--project", "tsconfig.json"], options);
  }
  for (const [index, { output }] of programs.entries()) {
    const { stdout } = run([node, `program-${index}.js`], options);
    if (stdout !== output) {
      throw new Error(`program ${index} of docs/library.md printed ${stdout}`);
    }
  }
}

function settings(options: Readonly<Record<string, string | undefined>>): string {
  const compilerOptions = {
    ...options,
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    types: ["node"],
    strict: true,
  };
  return JSON.stringify({ compilerOptions, include: ["program-*.ts"] });
}
