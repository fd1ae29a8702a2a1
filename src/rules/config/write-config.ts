import { mkdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { withFileLock } from "../../store/file-lock.ts";
import { replaceFile } from "../../workspace/files/replace-file.ts";
import { type ConfigEdit, editText } from "./edit-text.ts";
import { checkUserConfig, loadUserConfig } from "./load-config.ts";
import { type ConfigText, MARK, MAX_CONFIG_BYTES, readConfigText } from "./read-text.ts";
import type { UserConfig } from "./user-config.ts";

/** Where the config file is, and how `~/` in it is read. */
export interface ConfigPlace {
  readonly file: string;
  readonly home: string;
}

/** A process that is killed drops its lock; one that is stopped keeps it. */
const LOCK_TIMEOUT_MS = 20_000;

/**
 * Changes the user's config file, which is made if there is none; all at once. Comments, the rest of the text,
 * its mode, owner and, if it is a link, the link stay. One process changes it at a time, so no change of another
 * one is lost. `edits` gets the config as it is then.
 *
 * Error codes: `config_invalid`; `invalid_usage` of `edits`, and for what the file cannot hold.
 */
export async function changeConfig(
  place: ConfigPlace,
  edits: (config: UserConfig | null) => Promise<readonly ConfigEdit[]>,
): Promise<void> {
  const { file } = place;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const lock = { file, onLongWait: () => {}, timeoutMs: LOCK_TIMEOUT_MS };
    await withFileLock(lock, async () => {
      const before = await readConfigText(file);
      const text = before?.text ?? "";
      const after = (await edits(loadUserConfig(text, place))).reduce(editText, text);
      const [problem] = checkUserConfig(after, place.home).problems;
      if (problem !== undefined) {
        throw new RepriseError("invalid_usage", `The config cannot have this. ${problem.message}`);
      }
      if (after !== text) {
        await replace(file, after, before);
      }
    });
  } catch (cause) {
    throw isRepriseError(cause, "config_invalid", "invalid_usage")
      ? cause
      : notChanged(file, cause);
  }
}

async function replace(file: string, text: string, before: ConfigText | null): Promise<void> {
  const content = (before?.hasMark === true ? MARK : "") + text;
  if (Buffer.byteLength(content) > MAX_CONFIG_BYTES) {
    throw new RepriseError(
      "config_invalid",
      `The config file would be larger than ${MAX_CONFIG_BYTES / 1024} KiB. Remove what is not used any more.`,
    );
  }
  if (before === null) {
    await replaceFile(file, content, { mode: 0o600 });
  } else {
    // a link stays: what it leads to is replaced
    await replaceFile(await realpath(file), content, { mode: before.mode, owner: before });
  }
}

function notChanged(file: string, cause: unknown): RepriseError {
  const why = isRepriseError(cause, "database_locked")
    ? "another process is changing it and does not finish. Stop that process and try again."
    : "check who may write the file and its folder, and whether the disk is full.";
  return new RepriseError(
    "config_invalid",
    `The config file ${oneLine(file)} cannot be changed: ${why}`,
    { cause },
  );
}
