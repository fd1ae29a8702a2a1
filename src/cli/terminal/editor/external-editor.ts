import { spawn } from "node:child_process";
import { lstat, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { oneLine, quote } from "../../../core/text/terminal-text.ts";
import type { Screen } from "../screen/screen.ts";

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
  leaving,
}: {
  readonly screen: Pick<Screen, "outside">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program is asked to end, and ends the editor. */
  readonly leaving: AbortSignal;
}): (text: string) => Promise<Edited> {
  return async (text) => {
    const line = [env["VISUAL"], env["EDITOR"]].find((each) => each !== undefined && each.trim());
    if (line === undefined) {
      return { problem: "No editor is set. Set VISUAL or EDITOR, such as EDITOR=nano." };
    }
    const folder = await mkdtemp(join(tmpdir(), "reprise-message-")).catch(asError);
    if (folder instanceof Error) {
      return notMade(folder);
    }
    try {
      const file = join(folder, "message.md");
      const failure = await writeFile(file, text, { flag: "wx", mode: 0o600 }).catch(asError);
      if (failure !== undefined) {
        return notMade(failure);
      }
      const end = await screen.outside(() => run(line, { file, env, folder, leaving }));
      return end === 0 ? await readText(file, text) : { problem: endedWith(line, end) };
    } finally {
      // a folder that cannot be removed is only in the way
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  };
}

const asError = (error: Error): Error => error;

function notMade({ message }: Error): Edited {
  return {
    problem: `No file for the editor could be made: ${oneLine(message)}. The message is as before.`,
  };
}

/** A program and its arguments: without `exec` a shell could stay between it and us. */
const SIMPLE = /^[\w./+-]+(?: [\w./+:=@-]+)*$/;

/** As git does: the shell splits the line, and the file is its last argument. */
function run(
  line: string,
  given: {
    readonly file: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly folder: string;
    readonly leaving: AbortSignal;
  },
): Promise<number | string> {
  const { file, env, folder, leaving } = given;
  return new Promise((resolve) => {
    const command = SIMPLE.test(line) ? `exec ${line}` : line;
    const editor = spawn("/bin/sh", ["-c", `${command} "$@"`, line, file], {
      // not the session's: an editor could run what a command left there
      cwd: folder,
      env,
      stdio: "inherit",
    });
    const end = (): void => void editor.kill();
    const ended = (how: number | string): void => {
      leaving.removeEventListener("abort", end);
      resolve(how);
    };
    leaving.addEventListener("abort", end);
    if (leaving.aborted) {
      end();
    }
    editor
      .on("error", (error) => ended(error.message))
      .on("close", (code, signal) => ended(code ?? signal ?? 0));
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
