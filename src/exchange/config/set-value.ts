import { resolve } from "node:path";

import { RepriseError } from "../../core/errors.ts";
import { adviceOf, createNearestName } from "../../core/nearest-name.ts";
import { TOKEN_LIMITS } from "../../core/token-limits.ts";
import { realPathOf } from "../../store/project-key.ts";
import { EFFECTS } from "../permissions/rule.ts";
import { LIMIT_KEYS, type UserConfig } from "./user-config.ts";
import { changeConfig, type ConfigPlace } from "./write-config.ts";

/** The keys that have a value, as `config set` and `config get` name them. */
const CONFIG_KEYS: readonly string[] = [
  "model",
  "persona",
  "permission.mode",
  ...EFFECTS.map((effect) => `permission.${effect}`),
  "protected",
  ...Object.keys(LIMIT_KEYS).map((key) => `limits.${key}`),
  ...TOKEN_LIMITS.map((name) => `limits.tokens.${name}`),
];

/** They are texts, so `123` and `true` are taken as they are. */
const TEXTS: ReadonlySet<string> = new Set(["model", "persona", "permission.mode"]);

/** Error codes: `invalid_usage`. */
export function requireKey(key: string): string {
  if (!CONFIG_KEYS.includes(key)) {
    const nearest = createNearestName(CONFIG_KEYS)(key);
    const { advice } = adviceOf(nearest, `the keys are ${CONFIG_KEYS.join(", ")}`);
    throw new RepriseError("invalid_usage", `There is no such key; ${advice}`);
  }
  return key;
}

/**
 * Sets a value, or removes it with `null`; with a folder, for sessions in it. A value is JSON, or a plain text.
 *
 * Error codes: `invalid_usage`, as `changeConfig`.
 */
export async function setValue(
  place: ConfigPlace,
  {
    key,
    text,
    folder,
  }: { readonly key: string; readonly text: string; readonly folder?: string | undefined },
): Promise<void> {
  const path = requireKey(key).split(".");
  const value = text === "null" ? undefined : TEXTS.has(key) ? text : valueOf(text);
  await changeConfig(place, async (config) => [
    { path: [...(folder === undefined ? [] : await folderPath(config, folder)), ...path], value },
  ]);
}

/** The path to the section of a folder, by the name that the config has for it, else by its real path. */
async function folderPath(config: UserConfig | null, folder: string): Promise<readonly string[]> {
  const real = await realPathOf(resolve(folder));
  for (const each of config?.folders ?? []) {
    if ((await realPathOf(each.folder)) === real) {
      return ["folders", each.written];
    }
  }
  return ["folders", real];
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
