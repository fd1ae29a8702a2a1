import { resolve } from "node:path";

import type { TSchema } from "typebox";

import { RepriseError } from "../../core/errors.ts";
import { adviceOf, createNearestName } from "../../core/text/nearest-name.ts";
import { realPathOf } from "../../store/project-key.ts";
import { EFFECTS, ruleText } from "../permissions/rule.ts";
import { sectionsAt } from "./settings.ts";
import type { Form } from "./read-value.ts";
import { ConfigForm } from "./schema.ts";
import type { UserConfig } from "./user-config.ts";
import { changeConfig, type ConfigPlace } from "./write-config.ts";

const WHOLE: TSchema = ConfigForm;

/** Keys that are listed after the others. */
const LATER = ["limits", "sandbox", "hooks", "mcp", "providers", "models"];

/** Placeholders of keys without a fixed name. */
const PLACEHOLDERS: ReadonlyMap<string, string> = new Map([
  ["provider", "<name>"],
  ["model", "<provider:model>"],
  ["server", "<server>"],
]);

/** The keys that have a value, as `config set` and `config get` name them, with their forms. */
const CONFIG_KEYS: ReadonlyMap<string, Form> = new Map(
  [...valuesOf(WHOLE)]
    .filter(([key]) => key !== "$schema" && key !== "folders")
    .toSorted(([a], [b]) => place(a) - place(b)),
);

function place(key: string): number {
  return LATER.indexOf(key.split(".")[0] ?? "");
}

/** Keys that have a value in an object of this form, however deep. */
function* valuesOf(
  { properties = {} }: Form,
  above = "",
): Generator<readonly [string, Form], void> {
  for (const [name, form] of Object.entries(properties)) {
    const key = above + name;
    if (form.properties !== undefined) {
      yield* valuesOf(form, `${key}.`);
    } else if (form.keys !== undefined && PLACEHOLDERS.has(form.keys)) {
      yield* valuesOf(
        typeof form.additionalProperties === "object" ? form.additionalProperties : {},
        `${key}.${PLACEHOLDERS.get(form.keys) ?? ""}.`,
      );
    } else {
      yield [key, form];
    }
  }
}

/** A text or a word, so `123` and `true` are taken as they are. */
function isText({ type, enum: words }: Form = {}): boolean {
  return type === "string" || words !== undefined;
}

/** Error codes: `invalid_usage`. */
export function requireKey(key: string): string {
  findKey(key);
  return key;
}

/** The members that lead to a value. A name of a model may have dots. Error codes: `invalid_usage`. */
function findKey(key: string): { readonly path: readonly string[]; readonly form: Form } {
  for (const [name, form] of CONFIG_KEYS) {
    const pattern = name
      .replaceAll(".", "\\.")
      .replace("<name>", "([a-z][a-z0-9_-]*)")
      .replace("<server>", "([A-Za-z][A-Za-z0-9_-]*)")
      .replace("<provider:model>", "([a-z][a-z0-9_-]*:.+)");
    const match = new RegExp(`^${pattern}$`).exec(key);
    if (match !== null) {
      const named = match[1];
      return {
        path: name.split(".").map((part) => (part.startsWith("<") ? (named ?? part) : part)),
        form,
      };
    }
  }
  const keys = [...CONFIG_KEYS.keys()];
  const { advice } = adviceOf(createNearestName(keys)(key), `the keys are ${keys.join(", ")}`);
  throw new RepriseError("invalid_usage", `There is no such key; ${advice}`);
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
  const { path, form } = findKey(key);
  const value = text === "null" ? undefined : isText(form) ? text : valueOf(text);
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
