import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { temporaryFolder } from "../temp.ts";

/** A folder with these files in `.reprise/schemas/`. */
export function project(files: Readonly<Record<string, unknown>>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, ".reprise/schemas", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

/** A pattern that people write, which takes years to say no to `SLOW_TEXT`. */
export const SLOW_SCHEMA = { $id: "team/slow@1", type: "string", pattern: "^(\\w+\\s?)*$" };
export const SLOW_TEXT = JSON.stringify(`${"a".repeat(60)}!`);
