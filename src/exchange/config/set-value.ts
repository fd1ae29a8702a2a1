import { resolve } from "node:path";

import { RepriseError } from "../../core/errors.ts";
import { adviceOf, createNearestName } from "../../core/nearest-name.ts";
import { TOKEN_LIMITS } from "../../core/token-limits.ts";
import { realPathOf } from "../../store/project-key.ts";
import { EFFECTS, ruleText } from "../permissions/rule.ts";
import { sectionsAt } from "./settings.ts";
import { KEYED_PROVIDERS, LIMIT_KEYS, SANDBOX_KEYS, type UserConfig } from "./user-config.ts";
import { changeConfig, type ConfigPlace } from "./write-config.ts";

/** The keys that have a value, as `config set` and `config get` name them. */
const CONFIG_KEYS: readonly string[] = [
  "model",
  "persona",
  "permission.mode",
  ...EFFECTS.map((effect) => `permission.${effect}`),
  "protected",
  "environment",
  "theme",
  "notifications",
  ...Object.keys(LIMIT_KEYS).map((key) => `limits.${key}`),
  ...TOKEN_LIMITS.map((name) => `limits.tokens.${name}`),
  ...Object.keys(SANDBOX_KEYS).map((key) => `sandbox.limits.${key}`),
  "sandbox.visible",
  ...KEYED_PROVIDERS.flatMap((name) =>
    ["key_file", "key_command"].map((key) => `providers.${name}.${key}`),
  ),
];

/** They are texts, so `123` and `true` are taken as they are. */
const TEXTS: ReadonlySet<string> = new Set([
  "model",
  "persona",
  "permission.mode",
  "theme",
  "notifications",
  ...KEYED_PROVIDERS.map((name) => `providers.${name}.key_file`),
]);

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

/** Allows calls in a folder from now on. Error codes: as `changeConfig`. */
export async function allowInFolder(
  place: ConfigPlace,
  { rule, folder }: { readonly rule: string; readonly folder: string },
): Promise<void> {
  await changeConfig(place, async (config) => {
    const path = await folderPath(config, folder);
    const section = config?.folders.find(({ written }) => written === path[1])?.section;
    const allowed = (section?.rules ?? []).filter(({ effect }) => effect === "allow");
    return allowed.some((each) => ruleText(each) === rule)
      ? []
      : [{ path: [...path, "permission", "allow", allowed.length], value: rule }];
  });
}

/**
 * Takes a rule back, from each section that counts in the folder and whatever its effect. False if none has it.
 * Error codes: as `changeConfig`.
 */
export async function removeFromConfig(
  place: ConfigPlace,
  { rule, folder }: { readonly rule: string; readonly folder: string },
): Promise<boolean> {
  let removed = false;
  await changeConfig(place, async (config) => {
    const sections = await sectionsAt(config, folder);
    const edits = sections.flatMap(({ section, path }) =>
      EFFECTS.flatMap((effect) => {
        const texts = section.rules.filter((each) => each.effect === effect).map(ruleText);
        // the last one first: positions before it stay
        return texts
          .map((text, at) => (text === rule ? at : -1))
          .filter((at) => at >= 0)
          .toReversed()
          .map((at) => ({ path: [...path, "permission", effect, at], value: undefined }));
      }),
    );
    removed = edits.length > 0;
    return edits;
  });
  return removed;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
