import { execFile } from "node:child_process";

import { RepriseError } from "../../core/errors.ts";
import { readStart } from "../personas/text-file.ts";
import type { KeySource } from "../models/provider-config.ts";

type Env = Readonly<Record<string, string | undefined>>;

const MAX_BYTES = 64 * 1024;
const COMMAND_TIMEOUT_MS = 30_000;
/** So long the key of a command is kept: it may be one that expires. */
const KEPT_MS = 5 * 60_000;

/** Source of a key, for a sentence about it. */
interface KeyPlace {
  /** As in `providers.openai.key_file in the config`. */
  readonly place: string;
  readonly code: "config_invalid" | "invalid_usage";
}

/**
 * Makes a reader of the key of a provider: from a file each time, from a command again after 5 minutes. What a
 * command prints is shown nowhere.
 *
 * Error codes: that of the place.
 */
export function createKeyReader(
  source: Exclude<KeySource, { readonly variable: string }>,
  { env, ...place }: KeyPlace & { readonly env: Env },
): () => Promise<string> {
  if ("file" in source) {
    return async () => requireKey(await readKeyFile(source.file), { ...place, advice: FILE });
  }
  let kept: { readonly key: Promise<string>; readonly until: number } | null = null;
  return () => {
    if (kept === null || performance.now() > kept.until) {
      const key = run(source.command, env).then((text) =>
        requireKey(text, { ...place, advice: COMMAND }),
      );
      kept = { key, until: performance.now() + KEPT_MS };
      key.catch(() => (kept = null));
    }
    return kept.key;
  };
}

async function readKeyFile(path: string): Promise<string | null> {
  const start = await readStart({ path, within: null, maxBytes: MAX_BYTES });
  return typeof start === "string" || start.cut ? null : start.bytes.toString("utf8");
}

/** Without a shell, without input, and with the terminal's error output closed. Null if it fails. */
async function run([file = "", ...args]: readonly string[], env: Env): Promise<string | null> {
  return new Promise((resolve) => {
    try {
      const child = execFile(
        file,
        args,
        { env, timeout: COMMAND_TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: MAX_BYTES },
        (error, stdout) => resolve(error === null ? stdout : null),
      );
      child.stdin?.destroy();
    } catch {
      resolve(null);
    }
  });
}

const FILE = "; check the file";
const COMMAND = " within 30 seconds; run the command yourself to see why";

function requireKey(
  text: string | null,
  { place, code, advice }: KeyPlace & { readonly advice: string },
): string {
  const key = text?.trim() ?? "";
  if (!/^[\x21-\x7e]{1,4096}$/.test(key)) {
    throw new RepriseError(
      code,
      `${place} gives no key. It must give one line of 1 to 4,096 visible ASCII characters${advice}.`,
    );
  }
  return key;
}
