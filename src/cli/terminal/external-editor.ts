import { spawn } from "node:child_process";
import { lstat, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { oneLine, quote } from "../../core/terminal-text.ts";
import type { Screen } from "./screen.ts";

/** The text as the person left it, or why it is as before. */
export type Edited = { readonly text: string } | { readonly problem: string };

/** More bytes than a message can have. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Opens a text in `$VISUAL`, else `$EDITOR`: a line for the shell, such as `code --wait`. The file is readable by the
 * user alone, and removed afterwards. An editor that fails leaves the text as it was.
 */
export function externalEditor({
  screen,
  env,
  cwd,
}: {
  readonly screen: Pick<Screen, "outside">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}): (text: string) => Promise<Edited> {
  return async (text) => {
    const line = [env["VISUAL"], env["EDITOR"]].find((each) => each !== undefined && each.trim());
    if (line === undefined) {
      return { problem: "No editor is set. Set VISUAL or EDITOR, such as EDITOR=nano." };
    }
    const folder = await mkdtemp(join(tmpdir(), "reprise-message-")).catch((error: Error) => error);
    if (folder instanceof Error) {
      return { problem: `No file for the editor could be made: ${oneLine(folder.message)}` };
    }
    try {
      const file = join(folder, "message.md");
      await writeFile(file, text, { flag: "wx", mode: 0o600 });
      const end = await screen.outside(() => run(line, { file, env, cwd }));
      return end === 0 ? await readText(file, text) : { problem: endedWith(line, end) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** As git does: the shell splits the line, and the file is its last argument. */
function run(
  line: string,
  given: {
    readonly file: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
  },
): Promise<number | string> {
  const { file, env, cwd } = given;
  return new Promise((resolve) => {
    spawn("/bin/sh", ["-c", `${line} "$@"`, line, file], { cwd, env, stdio: "inherit" })
      .on("error", (error) => resolve(error.message))
      .on("close", (code, signal) => resolve(code ?? signal ?? 0));
  });
}

function endedWith(line: string, end: number | string): string {
  const how = typeof end === "number" ? `with exit code ${end}` : `by ${end}`;
  const hint = end === 127 ? " Check VISUAL and EDITOR." : "";
  return `The editor ${quote(line)} ended ${how}; the message is as before.${hint}`;
}

async function readText(file: string, before: string): Promise<Edited> {
  const stat = await lstat(file).catch(() => null);
  if (stat?.isFile() !== true || stat.size > MAX_BYTES) {
    return { problem: "The editor left no file, or one of over 8 MiB; the message is as before." };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
    // editors end each file with a line feed
    const edited = before.endsWith("\n") ? text : text.replace(/\r?\n$/, "");
    return { text: edited };
  } catch {
    return { problem: "The file is not text in UTF-8; the message is as before." };
  }
}
