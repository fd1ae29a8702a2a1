import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import type { Tool } from "../../core/tools.ts";
import { type ResolvedPath, resolvePath } from "../../rules/paths/resolve-path.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { APPLY_PATCH, MULTI_EDIT } from "../../rules/tools/built-in.ts";
import type { KeepChanges } from "../../workspace/undo/keeper.ts";
import type { PermitFiles } from "../permit/permit-files.ts";
import type { KnownFiles } from "../known-files.ts";
import { beginCall } from "../permit/tool-asking.ts";
import { editableText } from "./edit-file.ts";
import { editedText, type TextEdit } from "./edited-text.ts";
import { checkSteps, type FileStep, partOf, takeSteps } from "./file-steps.ts";
import { type FilePatch, MAX_FILES, parsePatch } from "./patch/parse-patch.ts";
import { patchedText } from "./patch/patched-text.ts";
import { type CallFiles, reportFiles } from "./call-files.ts";

/** What the effect of these tools needs. */
interface Guards {
  readonly permitFiles: PermitFiles;
  readonly keep: KeepChanges;
  readonly known: KnownFiles;
}

/** Where a call plans its steps, and what its model knows of it. */
interface Place {
  readonly sandbox: Sandbox;
  readonly files: CallFiles;
}

const MAX_EDITS = 100;
/** Characters of a patch. */
const MAX_PATCH = 1_000_000;

/** Opens the tools that change several files in one call: nothing is changed unless all of it can be. */
export const STEP_TOOLS = [
  define({
    declared: MULTI_EDIT,
    description:
      "Replace texts in one file or several, in this order. Each text must occur exactly once when its turn comes. If one edit is not possible, none is made. Read each file first.",
    schema: z.object({
      edits: z
        .array(
          z.object({
            path: z.string(),
            old_text: z.string().describe("exactly as in the file, without line numbers"),
            new_text: z.string(),
            replace_all: z.boolean().default(false),
          }),
        )
        .min(1)
        .max(MAX_EDITS),
    }),
    plan: planEdits,
  }),
  define({
    declared: APPLY_PATCH,
    description: `Add, change, move and delete files by one patch of at most ${MAX_FILES} files. If a part of it does not fit, nothing is done. Read each file that is there first. Form:
*** Begin Patch
*** Update File: src/a.ts
*** Move to: src/b.ts (only if its path changes)
@@ a line of the file before the change, if the lines below occur more than once
 a line that stays
-a line that goes away
+a new line
*** Add File: src/new.ts
+its first line
*** Delete File: src/old.ts
*** End Patch`,
    schema: z.object({ patch: z.string().min(1).max(MAX_PATCH) }),
    plan: planPatch,
  }),
];

function define<Schema extends z.ZodObject>(entry: {
  readonly declared: Tool;
  readonly description: string;
  readonly schema: Schema;
  readonly plan: (place: Place, input: z.output<Schema>) => Promise<readonly FileStep[]>;
}) {
  const { declared, plan, ...fields } = entry;
  return (
    run: (work: (sandbox: Sandbox) => Promise<string>) => Promise<string>,
    { permitFiles, keep, known }: Guards,
  ): StructuredToolInterface =>
    tool(
      reportFiles(known, (input: z.output<Schema>, config, files) =>
        run(async (sandbox) => {
          const steps = await plan({ sandbox, files }, input);
          checkSteps(steps, declared);
          const parts = steps.map((step) => partOf(step, declared));
          const reasons = await permitFiles(config, parts);
          await beginCall(config);
          const call = { call_id: config.toolCall?.id ?? "", tool: declared.name };
          return takeSteps(steps, reasons, files.through(keep, call));
        }),
      ),
      { ...fields, name: declared.name },
    );
}

interface EditOfFile extends TextEdit {
  readonly path: string;
}

async function planEdits(
  { sandbox, files: known }: Place,
  { edits }: { readonly edits: readonly EditOfFile[] },
): Promise<readonly FileStep[]> {
  const files = new Map<
    string,
    { target: ResolvedPath; edits: { edit: TextEdit; at: number }[] }
  >();
  for (const [index, edit] of edits.entries()) {
    const target = await resolvePath(sandbox, edit.path, MULTI_EDIT);
    const file = files.get(target.path) ?? { target, edits: [] };
    file.edits.push({ edit, at: index + 1 });
    files.set(target.path, file);
  }
  if (files.size > MAX_FILES) {
    throw refusal(`one call edits at most ${MAX_FILES} files; split it`);
  }
  return Promise.all(
    [...files.values()].map(async ({ target, edits }) => {
      const before = await knownText(target, known);
      let after = before;
      let count = 0;
      let refused: string | null = null;
      for (const { edit, at } of edits) {
        const edited = editedText(after, edit);
        if (edited.refused !== null) {
          refused = `edit ${at}: ${edited.refused}`;
          break;
        }
        after = edited.after;
        count += edited.count;
      }
      if (refused === null && after === before) {
        refused = "the edits change nothing";
      }
      const done = `edited ${target.shown} (${count} ${count === 1 ? "place" : "places"})`;
      return { target, to: null, before, after, refused, done };
    }),
  );
}

async function planPatch(
  place: Place,
  { patch }: { readonly patch: string },
): Promise<readonly FileStep[]> {
  const files = parsePatch(patch);
  return Promise.all(files.map((file) => planFile(place, file)));
}

async function planFile({ sandbox, files }: Place, patch: FilePatch): Promise<FileStep> {
  const target = await resolvePath(sandbox, patch.path, APPLY_PATCH);
  const { shown } = target;
  const step = { target, to: null, before: null, after: null, refused: null };
  if (patch.kind === "add") {
    if (target.stat !== null) {
      throw refusal(`${shown} is there already; use *** Update File, or delete it before`);
    }
    return { ...step, after: patch.content, done: `created ${shown}` };
  }
  if (target.stat?.isFile() !== true) {
    throw refusal(`${shown}: there is no such file; list_files or find_files shows what there is`);
  }
  if (patch.kind === "delete") {
    await files.refuseForeign(target);
    return { ...step, done: `deleted ${shown}` };
  }
  const to = patch.to === null ? null : await resolvePath(sandbox, patch.to, APPLY_PATCH);
  if (to !== null && to.stat !== null) {
    throw refusal(`${to.shown} is there already; choose another path`);
  }
  const before = await knownText(target, files);
  const edited =
    patch.hunks.length === 0 ? { refused: null, after: before } : patchedText(before, patch.hunks);
  const done = to === null ? `changed ${shown}` : `changed ${shown}, which is now ${to.shown}`;
  return edited.refused === null
    ? { ...step, to, before, after: edited.after, done }
    : { ...step, to, before, after: before, refused: edited.refused, done };
}

/** The text of a file that is as the model knows it. */
async function knownText(target: ResolvedPath, files: CallFiles): Promise<string> {
  const { text, hash } = await editableText(target);
  files.refuseOther(target.shown, hash);
  return text;
}
