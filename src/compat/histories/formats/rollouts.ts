import { dirname, join } from "node:path";

import { fieldsIn, nameIn } from "../fields.ts";
import { filesBelow } from "../find-histories.ts";
import { jsonLines } from "../lines.ts";

interface Rollout {
  readonly id: string;
  /** Id of the thread that began it as a sub-agent. */
  readonly parent: string | null;
}

/** Files of Codex by what their first lines say. Each folder is read once. */
export class Rollouts {
  readonly #folders = new Map<string, Promise<ReadonlyMap<string, Rollout>>>();

  /** Returns the files of the sub-agents that a thread began, in order. */
  async childrenOf(source: string, id: string): Promise<readonly string[]> {
    const rollouts = await this.#beside(source);
    return [...rollouts].filter(([, { parent }]) => parent === id).map(([file]) => file);
  }

  /** Returns the files without those that are read with the thread that began them. */
  async roots(files: readonly string[]): Promise<readonly string[]> {
    const roots: string[] = [];
    for (const file of files) {
      if (!(await this.#isBelow(file))) {
        roots.push(file);
      }
    }
    return roots;
  }

  /** True if its parents end with a file that has none: those in a circle would be read with nothing. */
  async #isBelow(file: string): Promise<boolean> {
    const rollouts = await this.#beside(file);
    const byId = new Map([...rollouts.values()].map((rollout) => [rollout.id, rollout]));
    const seen = new Set<string>();
    const own = rollouts.get(file);
    let at = own;
    while (at !== undefined && at.parent !== null && !seen.has(at.id)) {
      seen.add(at.id);
      at = byId.get(at.parent);
    }
    return at !== undefined && at !== own && at.parent === null;
  }

  #beside(source: string): Promise<ReadonlyMap<string, Rollout>> {
    const { folder, levels } = folderOf(source);
    const known = this.#folders.get(folder) ?? rolloutsIn(folder, levels);
    this.#folders.set(folder, known);
    return known;
  }
}

/** The folder with those of years, months and days; a file elsewhere is searched for beside it. */
function folderOf(source: string): { readonly folder: string; readonly levels: number } {
  const [, folder] = /^(.*)\/\d{4}\/\d\d\/\d\d\/[^/]+$/s.exec(source) ?? [];
  return folder === undefined ? { folder: dirname(source), levels: 0 } : { folder, levels: 3 };
}

async function rolloutsIn(folder: string, levels: number): Promise<ReadonlyMap<string, Rollout>> {
  const isLines = (path: string): boolean => path.endsWith(".jsonl");
  const rollouts = new Map<string, Rollout>();
  for (const path of await filesBelow(folder, { levels, isHistory: isLines })) {
    const file = join(folder, path);
    const rollout = await rolloutOf(file).catch(() => null);
    if (rollout !== null) {
      rollouts.set(file, rollout);
    }
  }
  return rollouts;
}

async function rolloutOf(file: string): Promise<Rollout | null> {
  for await (const line of jsonLines(file)) {
    const { type, payload } = fieldsIn(line.problem === undefined ? line.value : null);
    const { id, parent_thread_id, source } = fieldsIn(payload);
    const { subagent } = fieldsIn(source);
    const { parent_thread_id: spawner } = fieldsIn(fieldsIn(subagent)["thread_spawn"]);
    const own = type === "session_meta" ? nameIn(id) : null;
    return own === null ? null : { id: own, parent: nameIn(parent_thread_id) ?? nameIn(spawner) };
  }
  return null;
}
