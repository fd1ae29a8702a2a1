import type { Sandbox } from "../../exchange/files/sandbox.ts";
import type { PermitChange } from "../permit.ts";
import { type ResolvedPath, resolvePath } from "../../exchange/files/resolve-path.ts";
import { refusal } from "../../exchange/files/refusal.ts";
import { openFile } from "../../exchange/files/open-file.ts";
import { secretFileOf } from "../../exchange/permissions/call.ts";
import { type Change, describeChange } from "./change.ts";
import { replaceFile } from "./write-file.ts";

const MAX_EDITED_BYTES = 10n * 1024n * 1024n;

interface Edit {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all: boolean;
}

/**
 * Replaces a text that occurs exactly once in a file, or every occurrence with `replace_all`. The
 * file keeps its line ends and its byte order mark. A file that is not UTF-8 is refused: writing
 * it back would change bytes outside the edit.
 */
export async function editTextFile(
  sandbox: Sandbox,
  input: Edit,
  permit: PermitChange,
): Promise<string> {
  const target = await resolvePath(sandbox, input.path, "edit_file");
  const before = await textOf(target);
  const edited = editedText(before, input);
  if (edited.refused !== null && secretFileOf({ tool: "edit_file", file: target.file }) === null) {
    throw refusal(edited.refused);
  }
  // which text is in a file of secrets is not revealed without permission
  const make = await permit(target, async () => describeEdit({ target, before, edited }));
  if (edited.refused !== null) {
    throw refusal(edited.refused);
  }
  await replaceFile(target, edited.after, make);
  return `edited ${target.shown} (${edited.count} ${edited.count === 1 ? "place" : "places"})`;
}

type Edited =
  | { readonly refused: null; readonly after: string; readonly count: number }
  | { readonly refused: string };

function editedText(content: string, edit: Edit): Edited {
  const { oldText, newText } = withLineEnds(content, edit);
  if (oldText === "" || oldText === newText) {
    return { refused: "old_text must not be empty and must differ from new_text" };
  }
  const parts = content.split(oldText);
  const count = parts.length - 1;
  if (count === 0) {
    return {
      refused: "old_text is not in the file; read it again and copy the text exactly",
    };
  }
  if (count > 1 && !edit.replace_all) {
    return {
      refused: `old_text occurs ${count} times; add lines around it, or set replace_all`,
    };
  }
  return { refused: null, after: parts.join(newText), count };
}

async function describeEdit(edit: {
  readonly target: ResolvedPath;
  readonly before: string;
  readonly edited: Edited;
}): Promise<Change> {
  const { target, before, edited } = edit;
  return edited.refused === null
    ? describeChange({ target, before, after: edited.after })
    : { shown: `Nothing would be changed: ${edited.refused}.`, basis: target.path };
}

async function textOf(target: ResolvedPath): Promise<string> {
  await using file = await openFile(target);
  if ((target.stat?.size ?? 0n) > MAX_EDITED_BYTES) {
    throw refusal("the file is over 10 MiB, too large to edit; ask the user to do it");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.readFile());
  } catch (cause) {
    if (!(cause instanceof TypeError)) {
      throw cause;
    }
    throw refusal("the file is not UTF-8 text, so it was not changed; ask the user to convert it");
  }
}

/** Models write LF; in a file of CR LF the same lines are meant. */
function withLineEnds(content: string, edit: Edit): { oldText: string; newText: string } {
  const { old_text: oldText, new_text: newText } = edit;
  if (content.includes(oldText) || !content.includes("\r\n")) {
    return { oldText, newText };
  }
  const convert = (text: string) => text.replace(/\r?\n/g, "\r\n");
  return { oldText: convert(oldText), newText: convert(newText) };
}
