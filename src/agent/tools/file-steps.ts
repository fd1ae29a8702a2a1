import { createHash } from "node:crypto";

import { isRepriseError } from "../../core/errors.ts";
import type { Tool } from "../../core/tools.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import type { ResolvedPath } from "../../rules/paths/resolve-path.ts";
import { type Call, secretFileOf } from "../../rules/permissions/call.ts";
import { APPLY_PATCH, EDIT_FILE, WRITE_FILE } from "../../rules/tools/built-in.ts";
import type { MakeChanges } from "../permit/permit.ts";
import type { FilePart } from "../permit/permit-files.ts";
import { type Change, describeChange, shownText } from "../permit/change.ts";
import { moveFile, removeFile, replaceFile } from "./write-file.ts";

/** What a call does to one file. */
export interface FileStep {
  readonly target: ResolvedPath;
  /** Its new path; null if it keeps its path. */
  readonly to: ResolvedPath | null;
  /** Null for a new file, and for one that is removed. */
  readonly before: string | null;
  /** Null if the file is removed. */
  readonly after: string | null;
  /** Why nothing can be changed. It is shown after the consent if the file often holds secrets. */
  readonly refused: string | null;
  /** What was done, for the model. */
  readonly done: string;
}

/** Refuses before anybody is asked what cannot be done, but for what would reveal what is in a file of secrets. */
export function checkSteps(steps: readonly FileStep[], tool: Tool): void {
  const paths = steps.flatMap(({ target, to }) => [target, ...(to === null ? [] : [to])]);
  for (const [index, { path, shown }] of paths.entries()) {
    if (paths.findIndex((other) => other.path === path) !== index) {
      throw refusal(`${shown} is in this call twice; write all of its changes together`);
    }
  }
  for (const { target, refused } of steps) {
    if (refused !== null && secretFileOf({ tool, file: target.file }) === null) {
      throw refusal(`${target.shown}: ${refused}`);
    }
  }
}

/** What a person decides about. */
export function partOf(step: FileStep, tool: Tool): FilePart {
  const files = [step.target.file, ...(step.to === null ? [] : [step.to.file])];
  return {
    calls: files.map((file) => ({ tool, file, command: null, ...needsOf(step, tool) })),
    change: () => describeStep(step),
  };
}

/** Of a patch a new file is written and a change edits; to remove or move a file needs both. */
function needsOf({ to, before, after }: FileStep, tool: Tool): Pick<Call, "needs"> {
  if (tool !== APPLY_PATCH || to !== null || after === null) {
    return {};
  }
  return { needs: [before === null ? WRITE_FILE : EDIT_FILE] };
}

/**
 * Makes the changes, one file after the other, each all at once, and returns what was done; those with a reason are
 * left out. If one fails, those after it are not made, and the refusal says what was done.
 */
export async function takeSteps(
  steps: readonly FileStep[],
  reasons: readonly (string | null)[],
  make: MakeChanges,
): Promise<string> {
  const lines: string[] = [];
  let isAnyDone = false;
  for (const [index, step] of steps.entries()) {
    const { target, refused, done } = step;
    const reason = reasons[index] ?? refused;
    if (reason !== null) {
      lines.push(`not changed: ${target.shown}: ${reason}`);
      continue;
    }
    try {
      await takeStep(step, make);
    } catch (error) {
      if (!isAnyDone || !isRepriseError(error)) {
        throw error;
      }
      const left = steps.slice(index + 1).map(({ target }) => target.shown);
      lines.push(`failed: ${target.shown}: ${error.message}`);
      lines.push(...(left.length > 0 ? [`not tried: ${left.join(", ")}`] : []));
      throw refusal(["only a part of this was done:", ...lines].join("\n"));
    }
    isAnyDone = true;
    lines.push(done);
  }
  if (!isAnyDone) {
    throw refusal(lines.join("\n"));
  }
  return lines.join("\n");
}

function takeStep({ target, to, after }: FileStep, make: MakeChanges): Promise<void> {
  if (after === null) {
    return removeFile(target, make);
  }
  return to === null
    ? replaceFile(target, { content: after }, make)
    : moveFile({ from: target, to }, after, make);
}

async function describeStep(step: FileStep): Promise<Change> {
  const { target, to, before, after, refused } = step;
  if (refused !== null) {
    return { shown: `Nothing would be changed: ${refused}.`, basis: target.path };
  }
  if (after === null) {
    return describeRemoval(target);
  }
  const isSame = before === after;
  const change = isSame
    ? { shown: "", basis: `${target.path} ${hashOf(after)}` }
    : await describeChange({ target, before, after });
  return to === null
    ? change
    : {
        shown: [`Its path becomes ${to.shown}.`, ...(isSame ? [] : [change.shown])].join("\n"),
        basis: JSON.stringify([change.basis, to.path]),
      };
}

async function describeRemoval(target: ResolvedPath): Promise<Change> {
  const before = await shownText(target);
  const { ino, size, mtimeNs } = target.stat ?? {};
  return {
    shown:
      before === null
        ? `The file (${size ?? 0} bytes) is removed; what it holds is not shown.`
        : [
            `--- ${target.shown}`,
            "+++ /dev/null",
            ...before
              .replace(/\n$/, "")
              .split("\n")
              .map((line) => `-${line}`),
          ].join("\n"),
    basis: JSON.stringify([target.path, "removed", ...[ino, size, mtimeNs].map(String)]),
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
