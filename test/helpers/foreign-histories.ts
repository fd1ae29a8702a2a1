import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

import type { Program } from "../../src/compat/histories/history.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures/foreign", import.meta.url));

/** The folder that the programs worked in when the fixtures were made. */
const FOLDER = "/home/ada/greetings";

/**
 * Puts the history that a real program made into a home folder, as if it had worked in `project`. Returns the file that
 * is imported.
 */
export function placeHistory(
  program: Program,
  { home, project }: { home: string; project: string },
) {
  cpSync(join(FIXTURES, program), home, { recursive: true });
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => /\.(?:jsonl|db\.br|project_root)$/.test(name)).sort();
  for (const name of files) {
    const file = join(home, name);
    if (name.endsWith(".br")) {
      placeDatabase(file, project);
    } else {
      const content = readFileSync(file, "utf8").replaceAll(FOLDER, project);
      writeFileSync(file, content.replaceAll(hashOf(FOLDER), hashOf(project)));
    }
  }
  // files of sub-agents are after it, or in folders below
  const [first = ""] = files.filter((name) => !/subagents|project_root|chats\/.*\//.test(name));
  return join(home, first.replace(/\.br$/, ""));
}

/** Gemini CLI keeps it with the conversation. */
function hashOf(folder: string): string {
  return createHash("sha256").update(folder).digest("hex");
}

function placeDatabase(packed: string, project: string): void {
  const file = packed.replace(/\.br$/, "");
  writeFileSync(file, brotliDecompressSync(readFileSync(packed)));
  rmSync(packed);
  using database = new DatabaseSync(file);
  database.prepare("UPDATE session SET directory = ?").run(project);
}
