import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { temporaryFolder } from "./temp.ts";
import { TRUSTED } from "./trust.ts";

/** A folder with `repo`, `user` and `builtin` in it, filled from paths like `user/x.md`. */
export function personaFolders(files: Readonly<Record<string, string | Uint8Array>>) {
  const root = temporaryFolder();
  for (const folder of ["repo", "user", "builtin"]) {
    mkdirSync(join(root, folder));
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return {
    root,
    places: {
      repoPath: join(root, "repo"),
      userDir: join(root, "user"),
      builtinDir: join(root, "builtin"),
      trust: TRUSTED,
    },
  };
}
