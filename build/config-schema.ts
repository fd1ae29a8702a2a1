import { readFileSync, writeFileSync } from "node:fs";

import { ConfigForm } from "../src/rules/config/schema.ts";

/*
 * Makes docs/config.schema.json of the form by which the program reads a config:
 *
 *     node build/config-schema.ts           writes it
 *     node build/config-schema.ts --check   exits with 1 if it is another one
 */

const FILE = new URL("../docs/config.schema.json", import.meta.url);

type Json = Readonly<Record<string, unknown>>;

const OURS: ReadonlySet<string> = new Set(["reads", "exclusive", "keys"]);

/** Without what only the program reads. */
const form: Json = JSON.parse(
  JSON.stringify(ConfigForm, (key, value: unknown) => (OURS.has(key) ? undefined : value)),
);

/** The forms that are there several times, by their names. */
const defs: Record<string, unknown> = {};

/** Names a form that each of these objects has, and puts references in its place. */
function share(name: string, holders: readonly (readonly [object: Json, key: string])[]): void {
  for (const [object, key] of holders) {
    defs[name] ??= object[key];
    Object.assign(object, { [key]: { $ref: `#/$defs/${name}` } });
  }
}

function at(value: Json, ...path: readonly string[]): Json {
  return path.reduce<Json>((inner, key) => inner[key] as Json, value);
}

const top = at(form, "properties");
const section = at(top, "folders", "additionalProperties", "properties");
for (const name of Object.keys(section)) {
  share(name, [
    [top, name],
    [section, name],
  ]);
}
const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...form,
  $defs: defs,
};
// a list of words is one line, as the formatter writes it
const text = `${JSON.stringify(schema, null, 2).replace(/\[\s+("[^[\]]*?")\s+\]/g, (_, words: string) => `[${words.replace(/,\s+/g, ", ")}]`)}\n`;

if (!process.argv.includes("--check")) {
  writeFileSync(FILE, text);
} else if (readFileSync(FILE, "utf8") !== text) {
  console.error("docs/config.schema.json is old. Run `node build/config-schema.ts`.");
  process.exitCode = 1;
}
