import { isRepriseError } from "../../core/errors.ts";
import type { ChildHistory, Problem } from "./history.ts";

interface ReadChildren {
  readonly children: readonly ChildHistory[];
  /** Files of sub-agents that hold nothing that can be read. */
  readonly problems: readonly Problem[];
}

/** Reads the files of sub-agents, one after the other. A damaged one is a problem, and stops neither the others nor the parent. */
export async function readChildren(
  files: readonly string[],
  read: (file: string) => Promise<ChildHistory | null>,
): Promise<ReadChildren> {
  const children: ChildHistory[] = [];
  const problems: Problem[] = [];
  for (const source of files) {
    try {
      const child = await read(source);
      children.push(...(child === null ? [] : [child]));
    } catch (error) {
      if (!isRepriseError(error)) {
        throw error;
      }
      const message = `is the file of a sub-agent and was left out: ${error.message}`;
      problems.push({ source, line: null, message });
    }
  }
  return { children, problems };
}

/** Files that are not taken yet; they are from here on. */
export function untaken(files: readonly string[], taken: Set<string>): readonly string[] {
  const own = files.filter((file) => !taken.has(file));
  for (const file of own) {
    taken.add(file);
  }
  return own;
}
