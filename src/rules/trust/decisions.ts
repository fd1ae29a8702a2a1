import { mkdir, open } from "node:fs/promises";
import { constants } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";

import { isRepriseError, RepriseError, systemCode } from "../../core/errors.ts";
import { withFileLock } from "../../store/file-lock.ts";
import { replaceFile } from "../../workspace/files/replace-file.ts";

/** Decision of the user about one project. */
export interface Decision {
  /** The real path of its top folder. */
  readonly path: string;
  readonly trusted: boolean;
  /** When, as an ISO 8601 time. */
  readonly at: string;
  /** Fingerprints of the lists that were shown and refused; empty if it is trusted. */
  readonly declined: readonly string[];
  /** Digests of the hooks and servers that were shown and may run. */
  readonly seen: readonly string[];
}

const VERSION = 1;
const MAX_TRUST_FILE_BYTES = 1024 * 1024;
/** A process that is killed drops its lock; one that is stopped keeps it. */
const LOCK_TIMEOUT_MS = 20_000;

/**
 * The decisions in the user's file, none if there is no file. A file that is not this user's, that
 * others may write, or that holds something else is not believed.
 *
 * Error codes: `config_invalid`.
 */
export async function readDecisions(file: string): Promise<readonly Decision[]> {
  const text = await readOwnFile(file);
  return text === null ? [] : parse(text);
}

/**
 * Replaces or, with null, removes the decision about one project; all at once, file mode 0600. One
 * process changes the file at a time, so no decision of another one is lost.
 *
 * Error codes: `config_invalid`, also if the file would be larger than `readDecisions` takes.
 */
export async function changeDecision(
  file: string,
  path: string,
  change: (before: Decision | null) => Decision | null,
): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const lock = { file, onLongWait: () => {}, timeoutMs: LOCK_TIMEOUT_MS };
    await withFileLock(lock, async () => {
      const all = await readDecisions(file);
      const after = change(all.find((decision) => decision.path === path) ?? null);
      const others = all.filter((decision) => decision.path !== path);
      await replace(file, after === null ? others : [...others, after]);
    });
  } catch (cause) {
    throw isRepriseError(cause, "config_invalid") ? cause : notKept(cause);
  }
}

// without `await using`: an older Node.js parses the library before it reads that its version is too old
async function readOwnFile(file: string): Promise<string | null> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      const isOwn = found.uid === userInfo().uid && (found.mode & 0o022) === 0;
      if (!found.isFile() || !isOwn || found.size > MAX_TRUST_FILE_BYTES) {
        throw unusable();
      }
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof RepriseError) {
      throw error;
    }
    if (systemCode(error) === "ENOENT") {
      return null;
    }
    throw unusable(error);
  }
}

function parse(text: string): Decision[] {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && value["version"] === VERSION && Array.isArray(value["folders"])) {
      return value["folders"].map(decisionOf);
    }
  } catch (error) {
    throw unusable(error);
  }
  throw unusable();
}

function decisionOf(value: unknown): Decision {
  if (isObject(value)) {
    const { path, trusted, at, declined, seen } = value;
    if (typeof path === "string" && typeof trusted === "boolean" && typeof at === "string") {
      return { path, trusted, at, declined: texts(declined), seen: texts(seen) };
    }
  }
  throw unusable();
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function replace(file: string, folders: readonly Decision[]): Promise<void> {
  const text = `${JSON.stringify({ version: VERSION, folders }, null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_TRUST_FILE_BYTES) {
    throw new RepriseError(
      "config_invalid",
      "The decision on trust cannot be stored: the file is full. Remove old ones with `reprise trust remove`.",
    );
  }
  await replaceFile(file, text, { mode: 0o600 });
}

function notKept(cause: unknown): RepriseError {
  const why = isRepriseError(cause, "database_locked")
    ? ": another process is writing the file and does not finish. Stop that process and try again."
    : ". Check who may write the folder reprise in XDG_STATE_HOME or ~/.local/state.";
  return new RepriseError("config_invalid", `The decision on trust cannot be stored${why}`, {
    cause,
  });
}

function unusable(cause?: unknown): RepriseError {
  return new RepriseError(
    "config_invalid",
    "The file with your decisions on trust is damaged, or others may write it; check or delete reprise/trust.json in XDG_STATE_HOME or ~/.local/state.",
    { cause },
  );
}
