import type { ToolMessage } from "@langchain/core/messages";

import { resolvePath } from "../../rules/paths/resolve-path.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { READ_FILE } from "../../rules/tools/built-in.ts";
import { openFile } from "../../workspace/files/open-file.ts";
import { shortenedDiff, textDiff } from "../../workspace/files/text-diff.ts";
import { contentHash, type KnownFiles, noteOf } from "../known-files.ts";

/** Larger files are not compared. */
const MAX_BYTES = 1024n * 1024n;
/** Characters of a diff that the model is shown; it knows a file with a longer one as it was before. */
const MAX_DIFF = 8000;

interface WrittenFile {
  readonly shown: string;
  readonly text: string;
}

/**
 * The files that a call has written, while hooks run after it. If one of them changes such a file, the model is shown the
 * change and knows the file as it is then; if it cannot be shown, the model has to read the file again.
 */
export class WrittenFiles {
  readonly #sandbox: Sandbox;
  readonly #files: readonly WrittenFile[];

  private constructor(sandbox: Sandbox, files: readonly WrittenFile[]) {
    this.#sandbox = sandbox;
    this.#files = files;
  }

  static async of(
    result: ToolMessage,
    paths: readonly string[],
    sandbox: Sandbox,
  ): Promise<WrittenFiles> {
    const wrote = wroteOf(result);
    const files: WrittenFile[] = [];
    for (const path of new Set(paths)) {
      const file = await read(sandbox, path);
      if (file !== null && wrote.includes(noteOf(file.shown, contentHash(file.text)))) {
        files.push(file);
      }
    }
    return new WrittenFiles(sandbox, files);
  }

  /** Returns what has changed since, for the model, and the artifact of the result. */
  async changed(
    result: ToolMessage,
    known: KnownFiles,
  ): Promise<{ readonly notes: readonly string[]; readonly artifact: unknown }> {
    const notes: string[] = [];
    let wrote = wroteOf(result);
    for (const before of this.#files) {
      const { shown } = before;
      const after = await read(this.#sandbox, shown);
      if (after?.text === before.text) {
        continue;
      }
      const diff = after === null ? null : await diffOf(before, after);
      if (after === null || diff === null) {
        notes.push(`Hooks changed ${shown} after this call: read it again before you change it.`);
        continue;
      }
      notes.push(`Hooks changed ${shown} after this call:\n${diff}`);
      const note = noteOf(shown, contentHash(after.text));
      known.wrote(note);
      const path = noteOf(shown, null);
      wrote = [...wrote.filter((each) => !each.startsWith(path)), note];
    }
    const artifact: unknown = result.artifact;
    return {
      notes,
      artifact: wrote.length === 0 ? artifact : { ...Object(artifact), wrote: wrote.join(" ") },
    };
  }
}

/** Null for a file that is not there, cannot be read, is too large or no text. */
async function read(sandbox: Sandbox, path: string): Promise<WrittenFile | null> {
  try {
    const target = await resolvePath({ ...sandbox, onDenied: undefined }, path, READ_FILE);
    if ((target.stat?.size ?? 0n) > MAX_BYTES) {
      return null;
    }
    await using file = await openFile(target);
    const bytes = await file.readFile();
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { shown: target.shown, text };
  } catch {
    return null;
  }
}

async function diffOf(before: WrittenFile, after: WrittenFile): Promise<string | null> {
  const { shown } = before;
  const diff = await textDiff({ names: [shown, shown], before: before.text, after: after.text });
  return diff === null || diff.length > MAX_DIFF ? null : shortenedDiff(diff).trimEnd();
}

function wroteOf({ artifact }: ToolMessage): readonly string[] {
  const wrote: unknown =
    typeof artifact === "object" && artifact !== null ? Reflect.get(artifact, "wrote") : "";
  return typeof wrote === "string" && wrote !== "" ? wrote.split(" ") : [];
}
