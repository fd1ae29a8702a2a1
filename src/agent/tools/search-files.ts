import { isRepriseError } from "../../core/errors.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import type { ResolvedPath } from "../../rules/paths/resolve-path.ts";
import type { PermitChange } from "../permit/permit.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { isBinary, openFile } from "../../workspace/files/open-file.ts";
import { READ_FILE, SEARCH_FILES } from "../../rules/tools/built-in.ts";
import { matchingFiles, MAX_WALKED, permitFolder } from "./walk.ts";

const MAX_MATCHES = 200;
const MAX_SHOWN = 300;
/** Files that are named because they were not searched. */
const MAX_NAMED = 20;
/** Larger files are data; they are counted and left out. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

interface Search {
  readonly text: string;
  readonly path: string;
  readonly files: string;
  readonly ignore_case: boolean;
}

/**
 * Lines that hold a text, as `path:line: content`; plain text, not a pattern, because matching a
 * model's regular expression could take for ever. Binary files and those over 2 MiB are left out, and so are
 * those that `read_file` would not read without a question; they are named.
 * At most 200 lines.
 */
export async function searchFiles(
  sandbox: Sandbox,
  input: Search,
  permit: PermitChange,
): Promise<string> {
  if (input.text === "" || /[\r\n]/.test(input.text)) {
    throw refusal("search for one line of text; it must not be empty");
  }
  await permitFolder(sandbox, { path: input.path, tool: SEARCH_FILES }, permit);
  const found: string[] = [];
  const left = { cut: false, large: 0, asking: new Set<string>() };
  const files = { path: input.path, pattern: input.files };
  for await (const target of matchingFiles(sandbox, files, () => (left.cut = true))) {
    if ((target.stat?.size ?? 0n) > MAX_FILE_BYTES) {
      left.large += 1;
    } else if (!(await isPermitted(target, permit))) {
      left.asking.add(target.shown);
    } else {
      found.push(...(await matchingLines(target, input)));
    }
    if (found.length > MAX_MATCHES) {
      break;
    }
  }
  return report(found, left);
}

async function isPermitted(target: ResolvedPath, permit: PermitChange): Promise<boolean> {
  try {
    await permit(target, null, READ_FILE);
    return true;
  } catch (error) {
    if (isRepriseError(error, "invalid_request")) {
      return false;
    }
    throw error;
  }
}

async function matchingLines(
  target: ResolvedPath,
  { text, ignore_case }: Search,
): Promise<string[]> {
  const content = await textOf(target);
  const normalize = (line: string) => (ignore_case ? line.toLowerCase() : line);
  const wanted = normalize(text);
  if (!normalize(content).includes(wanted)) {
    return [];
  }
  return content.split("\n").flatMap((line, index) => {
    if (!normalize(line).includes(wanted)) {
      return [];
    }
    const shown = line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line.trimEnd();
    return [`${target.shown}:${index + 1}: ${shown}`];
  });
}

/** Empty for what is not text or went away since: one file must not end the search. */
async function textOf(target: ResolvedPath): Promise<string> {
  try {
    await using file = await openFile(target);
    return (await isBinary(file)) ? "" : await file.readFile("utf8");
  } catch {
    return "";
  }
}

function report(
  found: readonly string[],
  left: { cut: boolean; large: number; asking: ReadonlySet<string> },
): string {
  const asking = [...left.asking];
  const more = asking.length > MAX_NAMED ? `, and ${asking.length - MAX_NAMED} more` : "";
  const notes = [
    found.length > MAX_MATCHES ? `(more lines match; narrow the text, files or path)` : null,
    left.cut ? `(stopped after ${MAX_WALKED} entries; choose a smaller folder as path)` : null,
    left.large > 0 ? `(${left.large} files over 2 MiB were left out)` : null,
    asking.length > 0
      ? `(not searched, because they may hold secrets: ${asking.slice(0, MAX_NAMED).join(", ")}${more}; read_file asks the user)`
      : null,
  ].filter((note) => note !== null);
  const shown = found.length === 0 ? ["(no line holds this text)"] : found.slice(0, MAX_MATCHES);
  return [...shown, ...notes].join("\n");
}
