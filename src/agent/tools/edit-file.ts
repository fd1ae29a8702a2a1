import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { type ResolvedPath, resolvePath } from "../../rules/paths/resolve-path.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { openFile } from "../../workspace/files/open-file.ts";
import { secretFileOf } from "../../rules/permissions/call.ts";
import { EDIT_FILE } from "../../rules/tools/built-in.ts";
import { contentHash } from "../known-files.ts";
import { type Change, describeChange } from "../permit/change.ts";
import { type Edited, editedText, type TextEdit } from "./edited-text.ts";
import { type FileCall, replaceFile } from "./write-file.ts";

const MAX_EDITED_BYTES = 10n * 1024n * 1024n;

interface Edit extends TextEdit {
  readonly path: string;
}

/**
 * Replaces a text that occurs exactly once in a file, or every occurrence with `replace_all`. The
 * file keeps its line ends and its byte order mark. A file that is not UTF-8 is refused: writing
 * it back would change bytes outside the edit.
 */
export async function editTextFile(
  sandbox: Sandbox,
  input: Edit,
  { permit, files }: FileCall,
): Promise<string> {
  const target = await resolvePath(sandbox, input.path, EDIT_FILE);
  const { text: before, hash } = await editableText(target);
  const edited = editedText(before, input);
  const isSecret = secretFileOf({ tool: EDIT_FILE, file: target.file }) !== null;
  if (edited.refused !== null && !isSecret && files.isKnown(target.shown, hash)) {
    throw refusal(edited.refused);
  }
  // which text is in a file of secrets is not revealed without permission
  const make = await permit(target, async () => {
    files.refuseOther(target.shown, hash);
    return describeEdit({ target, before, edited });
  });
  files.refuseOther(target.shown, hash);
  if (edited.refused !== null) {
    throw refusal(edited.refused);
  }
  await replaceFile(target, { content: edited.after }, make);
  return `edited ${target.shown} (${edited.count} ${edited.count === 1 ? "place" : "places"})`;
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

/** The text of a file that may be edited, and the hash of its bytes. */
interface Editable {
  readonly text: string;
  readonly hash: string;
}

/** The whole text of a file that is about to be edited. Refuses what could not be written back as it was. */
export async function editableText(target: ResolvedPath): Promise<Editable> {
  await using file = await openFile(target);
  if ((target.stat?.size ?? 0n) > MAX_EDITED_BYTES) {
    throw refusal("the file is over 10 MiB, too large to edit; ask the user to do it");
  }
  const bytes = await file.readFile();
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, hash: contentHash(bytes) };
  } catch (cause) {
    if (!(cause instanceof TypeError)) {
      throw cause;
    }
    throw refusal("the file is not UTF-8 text, so it was not changed; ask the user to convert it");
  }
}
