import { chmod, mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { RepriseError } from "../../../core/errors.ts";
import type { ConfigEdit } from "../../../rules/config/edit-text.ts";
import { changeConfig, type ConfigPlace } from "../../../rules/config/write-config.ts";
import { replaceFile } from "../../../workspace/files/replace-file.ts";
import type { Candidate, GivenKey } from "./candidate.ts";

/**
 * Keeps a provider and the default model in the config, and a typed key in a file beside it. If the config cannot be
 * changed, no new file stays.
 *
 * Error codes: `file_unwritable`, as `changeConfig`.
 */
export async function keepProvider(
  place: ConfigPlace,
  kept: Candidate & { readonly model: string },
): Promise<{ readonly keyFile: string | null }> {
  const { provider, key, baseUrl, model } = kept;
  const keyFile =
    key !== null && "typed" in key ? join(dirname(place.file), "keys", provider) : null;
  const isNew = keyFile !== null && (await stat(keyFile).catch(() => null)) === null;
  if (keyFile !== null && key !== null && "typed" in key) {
    await writeKey(keyFile, key.typed);
  }
  const edits: ConfigEdit[] = [
    ...(key === null ? [] : keyEdits(provider, key, { keyFile, home: place.home })),
    ...(baseUrl === null ? [] : [{ path: ["providers", provider, "base_url"], value: baseUrl }]),
    { path: ["model"], value: model },
  ];
  try {
    await changeConfig(place, async () => edits);
  } catch (error) {
    if (isNew) {
      await rm(keyFile, { force: true });
    }
    throw error;
  }
  return { keyFile };
}

const KEY_FIELDS = ["key_file", "key_env", "key_command"] as const;

/** The field with the place of the key; the others of the entry go. */
function keyEdits(
  provider: string,
  key: GivenKey,
  { keyFile, home }: { readonly keyFile: string | null; readonly home: string },
): ConfigEdit[] {
  const [field, value] =
    "variable" in key
      ? (["key_env", key.variable] as const)
      : "command" in key
        ? (["key_command", key.command] as const)
        : (["key_file", underHome("file" in key ? key.file : (keyFile ?? ""), home)] as const);
  const others = KEY_FIELDS.filter((each) => each !== field);
  return [
    ...others.map((each) => ({ path: ["providers", provider, each], value: undefined })),
    { path: ["providers", provider, field], value },
  ];
}

/** As a config names it: a home may be at another path on another day. */
export function underHome(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Writes a file that only its user can read, in a folder that only its user can enter; all at once. */
async function writeKey(path: string, key: string): Promise<void> {
  const folder = dirname(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    await replaceFile(path, `${key}\n`, { mode: 0o600 });
  } catch (cause) {
    throw new RepriseError(
      "file_unwritable",
      "The key could not be kept in the folder `keys` beside your config. Check who may write that folder.",
      { cause },
    );
  }
}
