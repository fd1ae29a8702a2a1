import { execFile } from "node:child_process";

import { oneLine } from "../../core/text/terminal-text.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { findProgram } from "../../workspace/sandbox/find-program.ts";

/** Runs git in a folder; `input` is what it reads. Returns what it prints. */
export type Git = (
  args: readonly string[],
  options?: { readonly input?: string; readonly index?: string },
) => Promise<string>;

export interface GitOptions {
  readonly folder: string;
  /** Of it only the user's home and language are used. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** What would run programs, whatever the repository's own configuration says. */
const SAFE = Object.entries({
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.untrackedCache": "false",
  "core.pager": "cat",
  "core.editor": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
}).flatMap(([name, value]) => ["-c", `${name}=${value}`]);

const FOLDERS = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"];
const PASSED = ["HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "TZ"];
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Git without hooks, monitor, editor, pager, signing program and questions. Refuses for the model. */
export function createGit({ folder, env, signal }: GitOptions): Git {
  const file = findProgram(FOLDERS, "git");
  if (file === null) {
    throw refusal("git is not installed");
  }
  const variables = {
    ...Object.fromEntries(
      PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
    ),
    PATH: FOLDERS.join(":"),
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: "false",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
  return (args, { input = "", index } = {}) =>
    new Promise((resolve, reject) => {
      const child = execFile(
        file,
        [...SAFE, ...args],
        {
          cwd: folder,
          env: index === undefined ? variables : { ...variables, GIT_INDEX_FILE: index },
          timeout: TIMEOUT_MS,
          killSignal: "SIGKILL",
          maxBuffer: MAX_BYTES,
          ...(signal === undefined ? {} : { signal }),
        },
        (error, stdout, stderr) => {
          if (error === null) {
            resolve(stdout);
          } else {
            const [line = ""] = stderr.split("\n");
            reject(refusal(`git refused: ${oneLine(line.slice(0, 500)) || "it did not end"}`));
          }
        },
      );
      child.stdin?.on("error", () => undefined).end(input);
    });
}
