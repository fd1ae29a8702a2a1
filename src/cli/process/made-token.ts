import { randomBytes, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { RepriseError, systemCode } from "../../core/errors.ts";

/** 32 random bytes, as `makeToken` writes them. */
const FORM = /^[0-9a-f]{64}\n$/;
const LENGTH = 65;

/**
 * The token that this user's services share, as long as they have no other; null if none was made yet. It counts
 * only in a file that is this user's, no link, and that nobody else can read.
 *
 * Error codes: `config_invalid`, also for null: the environment names no home.
 */
export async function readMadeToken(file: string | null): Promise<string | null> {
  if (file === null) {
    throw noPlace();
  }
  try {
    await using handle = await open(
      file,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const found = await handle.stat();
    if (!found.isFile()) {
      throw unusable("is not a file");
    }
    // Windows has no such numbers
    if (process.geteuid !== undefined && found.uid !== process.geteuid()) {
      throw unusable("belongs to another user");
    }
    if ((found.mode & 0o077) !== 0) {
      throw unusable("can be read or written by others (its mode must be 0600)");
    }
    const text = found.size === LENGTH ? await handle.readFile("utf8") : "";
    if (!FORM.test(text)) {
      throw unusable("does not hold a token that Reprise made");
    }
    return text.trim();
  } catch (cause) {
    if (cause instanceof RepriseError) {
      throw cause;
    }
    switch (systemCode(cause)) {
      case "ENOENT":
        return null;
      case "ELOOP":
        throw unusable("is a link");
      default:
        throw unusable("cannot be read", cause);
    }
  }
}

/**
 * Returns the token, made if there is none: all at once, with mode 0600. Of several processes that make it at the
 * same time, all return that of the first.
 *
 * Error codes: `config_invalid`.
 */
export async function makeToken(file: string | null): Promise<string> {
  if (file === null) {
    throw noPlace();
  }
  const token = await readMadeToken(file);
  if (token !== null) {
    return token;
  }
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await placeNew(file, `${randomBytes(32).toString("hex")}\n`);
  } catch (cause) {
    const sentence =
      "The file of the service's token cannot be written. Check who may write the folder reprise in XDG_STATE_HOME or ~/.local/state.";
    throw new RepriseError("config_invalid", sentence, { cause });
  }
  const made = await readMadeToken(file);
  if (made === null) {
    throw unusable("was deleted again at once");
  }
  return made;
}

/** Leaves the file alone if there is one by now. */
async function placeNew(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await using handle = await open(temporary, "wx", 0o600);
    await handle.writeFile(text);
    await handle.sync();
    await link(temporary, file);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") {
      throw error;
    }
  } finally {
    await rm(temporary, { force: true });
  }
}

function noPlace(): RepriseError {
  return new RepriseError(
    "config_invalid",
    "The service has no place for its token, because HOME is not set. Set HOME or XDG_STATE_HOME to an absolute path.",
  );
}

function unusable(what: string, cause?: unknown): RepriseError {
  return new RepriseError(
    "config_invalid",
    `The file of the service's token ${what}, so it is not used. Delete reprise/token in XDG_STATE_HOME or ~/.local/state, and the next \`reprise serve\` makes a new one.`,
    { cause },
  );
}
