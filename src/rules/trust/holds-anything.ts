import { existsSync } from "node:fs";
import { join } from "node:path";

import { MCP_FILE } from "../servers/server.ts";
import { COMMAND_FOLDERS, SKILL_FOLDERS } from "../skills/places.ts";

const NAMES = [
  "AGENTS.md",
  MCP_FILE,
  ".reprise",
  ".claude/agents",
  ".agents/agents",
  ...SKILL_FOLDERS,
  ...COMMAND_FOLDERS,
];

/**
 * False if the folder has no file that trust is about. Asks in this thread: eight entries take 10 microseconds, and 360
 * with the threads of `node:fs/promises`, in every exchange.
 */
export function holdsAnything(folder: string): boolean {
  return NAMES.some((name) => existsSync(join(folder, name)));
}
