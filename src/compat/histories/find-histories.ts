import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import type { Program } from "./history.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the files in which a program keeps its conversations, in order; none if it keeps none. `home` is the home
 * folder of the person; variables of the program that move its files count.
 */
export async function findHistories(
  program: Program,
  { home, env }: { readonly home: string; readonly env: Environment },
): Promise<readonly string[]> {
  const { folder, isHistory, levels } = placeOf(program, home, env);
  const found = await filesBelow(folder, { levels, isHistory });
  return found.map((path) => join(folder, path));
}

/** Returns paths below a folder, in order. */
export async function filesBelow(
  folder: string,
  { levels, isHistory }: Pick<Place, "levels" | "isHistory">,
): Promise<readonly string[]> {
  const found: string[] = [];
  await walk(folder, "", { levels, found, isHistory });
  return found.sort();
}

interface Place {
  readonly folder: string;
  /** Folders between it and a history. */
  readonly levels: number;
  /** Judges a path below the folder. */
  readonly isHistory: (path: string) => boolean;
}

function placeOf(program: Program, home: string, env: Environment): Place {
  const isLines = (path: string): boolean => path.endsWith(".jsonl");
  switch (program) {
    case "claude-code": {
      const folder = join(named(env, "CLAUDE_CONFIG_DIR") ?? join(home, ".claude"), "projects");
      // those of sub-agents are in folders below, and belong to their sessions
      return { folder, levels: 1, isHistory: (path) => isLines(path) && !/\/agent-/.test(path) };
    }
    case "codex": {
      const folder = join(named(env, "CODEX_HOME") ?? join(home, ".codex"), "sessions");
      return { folder, levels: 3, isHistory: isLines };
    }
    case "opencode": {
      const data = named(env, "XDG_DATA_HOME") ?? join(home, ".local/share");
      return {
        folder: join(data, "opencode"),
        levels: 0,
        isHistory: (path) => /^opencode(?:-[\w.]+)?\.db$/.test(path),
      };
    }
    case "gemini": {
      const folder = join(named(env, "GEMINI_CLI_HOME") ?? home, ".gemini/tmp");
      const isHistory = (path: string): boolean => /\/chats\/session-[^/]*\.jsonl?$/.test(path);
      return { folder, levels: 2, isHistory };
    }
    case "pi": {
      const moved = named(env, "PI_CODING_AGENT_SESSION_DIR");
      const agent = named(env, "PI_CODING_AGENT_DIR") ?? join(home, ".pi/agent");
      return { folder: moved ?? join(agent, "sessions"), levels: 1, isHistory: isLines };
    }
  }
}

function named(env: Environment, name: string): string | null {
  const value = env[name] ?? "";
  return value === "" ? null : value;
}

interface Walk {
  readonly levels: number;
  readonly found: string[];
  readonly isHistory: Place["isHistory"];
}

/** Goes down so many levels; links are followed, and a circle of links ends with the levels. */
async function walk(
  folder: string,
  path: string,
  { levels, found, isHistory }: Walk,
): Promise<void> {
  const names = await readdir(join(folder, path)).catch(() => []);
  for (const name of names) {
    const below = path === "" ? name : `${path}/${name}`;
    if (isHistory(below)) {
      found.push(below);
    } else if (levels > 0) {
      const state = await stat(join(folder, below)).catch(() => null);
      if (state?.isDirectory() === true) {
        await walk(folder, below, { levels: levels - 1, found, isHistory });
      }
    }
  }
}
