import { mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { applyEdits, modify } from "jsonc-parser";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { withFileLock } from "../../store/file-lock.ts";
import { replaceFile } from "../../workspace/files/replace-file.ts";
import { foreignServers } from "./foreign-servers.ts";
import { MAX_MCP_FILE_BYTES, readMcpText } from "./mcp-file.ts";
import { MCP_FILE } from "./server.ts";

export interface McpFileChange {
  /** Folder with the file. */
  readonly folder: string;
  /** A file of the user beside which the lock is: a repository gets none. */
  readonly lock: string;
  readonly name: string;
  /** The server, in the form of the file; null to remove it. */
  readonly server: Readonly<Record<string, unknown>> | null;
}

const LOCK_TIMEOUT_MS = 20_000;
const MARK = "\u{FEFF}";
const NEW = "{}\n";

/**
 * Adds a server to the file `.mcp.json` of a folder, which is made if there is none, or removes one: all at once, and
 * nothing else in the file changes. Nothing of the file is trusted by that.
 *
 * Error codes: `invalid_usage`.
 */
export async function changeMcpFile(change: McpFileChange): Promise<void> {
  const { folder, lock, name, server } = change;
  const problem = server === null ? undefined : foreignServers({ [name]: server }, MCP_FILE);
  if (problem?.problems[0] !== undefined) {
    throw refused(`${MCP_FILE} cannot have this: ${problem.problems[0]}.`);
  }
  try {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
    await withFileLock(
      { file: lock, onLongWait: () => {}, timeoutMs: LOCK_TIMEOUT_MS },
      async () => {
        const before = await readMcpText(folder);
        if (before !== null && "problem" in before) {
          throw refused(`${MCP_FILE} cannot be changed: ${before.problem}.`);
        }
        const text = before?.text ?? NEW;
        const names = namesIn(text);
        if (server !== null && names.includes(name)) {
          throw refused(
            `There is a server of this name in ${MCP_FILE}. Remove it first, or choose another name.`,
          );
        }
        if (server === null && !names.includes(name)) {
          throw refused(
            names.length === 0
              ? `There is no server in ${MCP_FILE} of this folder.`
              : `There is no server of this name in ${MCP_FILE} of this folder.`,
          );
        }
        const after = edited(text, name, server);
        if (Buffer.byteLength(after) > MAX_MCP_FILE_BYTES) {
          throw refused(`${MCP_FILE} would be larger than 256 KiB. Remove what is not used.`);
        }
        await replace(join(folder, MCP_FILE), after, before === null);
      },
    );
  } catch (cause) {
    throw isRepriseError(cause, "invalid_usage")
      ? cause
      : refused(
          `${MCP_FILE} cannot be changed. Check who may write it and the folder, and whether the disk is full.`,
          cause,
        );
  }
}

/** Names of the servers that a text has; none without `mcpServers`. */
function namesIn(text: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(text));
  } catch {
    throw refused(`${MCP_FILE} cannot be changed: it is not JSON. Correct it first.`);
  }
  const servers: unknown =
    isObject(value) && Object.hasOwn(value, "mcpServers") ? Reflect.get(value, "mcpServers") : {};
  if (!isObject(value) || !isObject(servers)) {
    throw refused(`${MCP_FILE} cannot be changed: it has no object mcpServers. Correct it first.`);
  }
  return Object.keys(servers);
}

/** Indents as the file does. */
function edited(text: string, name: string, server: McpFileChange["server"]): string {
  const json = withoutMark(text);
  const indent = /\n([ \t]+)"/.exec(json)?.[1] ?? "  ";
  const edits = modify(json, ["mcpServers", name], server ?? undefined, {
    formattingOptions: {
      insertSpaces: !indent.startsWith("\t"),
      tabSize: indent.length,
      eol: json.includes("\r\n") ? "\r\n" : "\n",
    },
  });
  return (text.startsWith(MARK) ? MARK : "") + applyEdits(json, edits);
}

async function replace(file: string, text: string, isNew: boolean): Promise<void> {
  if (isNew) {
    await replaceFile(file, text, { mode: 0o644 });
  } else {
    // a link within the folder stays
    const target = await realpath(file);
    const { mode, uid, gid } = await stat(target);
    await replaceFile(target, text, { mode: mode & 0o777, owner: { uid, gid } });
  }
}

function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refused(sentence: string, cause?: unknown): RepriseError {
  return new RepriseError("invalid_usage", sentence, { cause });
}
