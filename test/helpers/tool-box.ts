import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { KnownFiles } from "../../src/agent/known-files.ts";
import { sessionTools } from "../../src/agent/tools/session-tools.ts";
import { PERMITTED } from "./permit.ts";
import { readingFirst } from "./reading-first.ts";
import { temporaryFolder } from "./temp.ts";

export interface ToolBox {
  /** Holds `repo`, the session's repository, and whatever lies beside it. */
  readonly outside: string;
  readonly repo: string;
  call(name: string, args: object): Promise<string>;
}

/** A repository in a fresh folder, with these files, and the tools that work on it; `folder` is its path there. */
export function toolBox(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  protect: (outside: string) => string[] = () => [],
  folder = "repo",
): ToolBox {
  const outside = temporaryFolder();
  const repo = join(outside, folder);
  mkdirSync(repo, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), content);
  }
  const known = new KnownFiles();
  const tools = sessionTools({
    known,
    repoPath: repo,
    protectedPaths: protect(outside),
    ...PERMITTED,
  });
  return {
    outside,
    repo,
    call: readingFirst(tools, known),
  };
}
