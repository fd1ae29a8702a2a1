import { PROVIDERS } from "../models/name.ts";
import { AGENT_TOOLS } from "../tools/catalogue.ts";
import { parseFields } from "./front-matter.ts";
import type { Fields } from "./front-matter.ts";
import { toolNames } from "./own-fields.ts";
import type { PersonaFields } from "./own-fields.ts";
import { PersonaFault } from "./persona-fault.ts";

/** What other programs call our tools. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  Read: "read_file",
  LS: "list_files",
  Glob: "find_files",
  Grep: "search_files",
  Write: "write_file",
  Edit: "edit_file",
  MultiEdit: "edit_file",
};

interface Read<Value> {
  readonly value: Value;
  readonly notes: readonly string[];
}

/**
 * Front matter written for another program. Its tools become ours where there is an equivalent;
 * others, other programs' model names and other fields are left out, with a note for what changes
 * how the persona works.
 */
export function foreignFields(yaml: string): PersonaFields {
  const fields = lenientFields(yaml);
  const tools = foreignTools(fields.get("tools")?.value);
  const model = foreignModel(textOf(fields, "model"));
  return {
    name: textOf(fields, "name"),
    description: textOf(fields, "description") ?? "",
    model: model.value,
    tools: tools.value,
    notes: [...tools.notes, ...model.notes],
  };
}

/** Such files often hold descriptions that are no YAML (`Use this when: …`), so lines do too. */
function lenientFields(yaml: string): Fields {
  try {
    return parseFields(yaml);
  } catch (error) {
    if (!(error instanceof PersonaFault)) throw error;
    const lines = yaml.split("\n").flatMap((text, index) => {
      const match = /^([a-zA-Z][\w-]*):\s+(\S.*)$/.exec(text);
      return match === null
        ? []
        : [{ key: match[1] ?? "", value: match[2] ?? "", line: index + 2 }];
    });
    if (!lines.some(({ key }) => key === "name")) throw error;
    return new Map(lines.map(({ key, value, line }) => [key, { value: unquoted(value), line }]));
  }
}

/** `[Read, Grep]` and `"text"` as a line without YAML means them. */
function unquoted(value: string): string {
  return value
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2")
    .replace(/^\[(.*)\]$/, "$1");
}

function textOf(fields: Fields, name: string): string | null {
  const value = fields.get(name)?.value;
  return typeof value === "string" ? value.trim() : null;
}

/** None named means all, as there; named ones that we do not have never become all. */
function foreignTools(value: unknown): Read<string[] | null> {
  if (value === undefined || value === null || value === "*") return { value: null, notes: [] };
  const names = toolNames(value) ?? [];
  const known = names.flatMap((name) => equivalent(name) ?? []);
  const unknown = names.filter((name) => equivalent(name) === null);
  const notes = unknown.length === 0 ? [] : [`${unknown.length} of its tools do not exist here`];
  return { value: [...new Set(known)], notes };
}

function equivalent(name: string): string | null {
  const own = AGENT_TOOLS.find((tool) => tool.name === name)?.name;
  return own ?? (Object.hasOwn(EQUIVALENTS, name) ? (EQUIVALENTS[name] ?? null) : null);
}

function foreignModel(name: string | null): Read<string | null> {
  if (name === null || name === "inherit") return { value: null, notes: [] };
  const provider = PROVIDERS.find((known) => name.startsWith(`${known}:`));
  if (provider !== undefined) return { value: name, notes: [] };
  return { value: null, notes: ["its model is another program's; the session's is used"] };
}
