import { access } from "node:fs/promises";
import { join } from "node:path";

const NAMES = ["AGENTS.md", ".reprise", ".claude/agents", ".agents/agents"];

/** False if the folder has no file that trust is about; cheap, for the usual case. */
export async function holdsAnything(folder: string): Promise<boolean> {
  const found = await Promise.all(
    NAMES.map((name) =>
      access(join(folder, name)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
