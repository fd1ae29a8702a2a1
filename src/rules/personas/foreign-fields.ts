import type { ToolSet } from "../../core/tools.ts";
import { builtInProvider } from "../models/providers.ts";
import { parseFields, type ParsedFields } from "./front-matter.ts";
import { listedNames, type PersonaFields } from "./own-fields.ts";
import { PersonaError } from "./persona-error.ts";
import { allowedTools, DENYING, listNote, normalized, type Noted } from "./foreign-denials.ts";
import { foreignTool } from "./foreign-tools.ts";
import { quotedName } from "./unknown-tool.ts";
import { personaServers, SERVERS } from "../servers/persona-servers.ts";

const KNOWN = ["name", "description", "model", "tools", "color", SERVERS, ...DENYING].map(
  normalized,
);

/**
 * Front matter written for another program. Its tools become ours if there is an equivalent;
 * others, other programs' model names and other fields are left out, with a note for what changes
 * how the persona works. What it denies is denied here, and a denial that cannot be enforced is
 * an error.
 */
export function foreignFields(yaml: string, known: ToolSet, path: string): PersonaFields {
  const fields = lenientFields(yaml);
  const tools = foreignTools(fields.get("tools")?.value, known);
  const model = foreignModel(textOf(fields, "model"));
  const servers = personaServers(fields.get(SERVERS)?.value, path);
  const allowed = allowedTools(fields, tools.value, known);
  return {
    name: textOf(fields, "name"),
    description: textOf(fields, "description") ?? "",
    model: model.value,
    // other programs have other words for it
    effort: null,
    fallback: null,
    tools: allowed.value,
    servers: servers.entries,
    notes: [
      ...tools.notes,
      ...allowed.notes,
      ...model.notes,
      ...servers.problems,
      ...leftOut(fields),
    ],
  };
}

/** Such files often hold descriptions that are not YAML (`Use this when: …`), so lines do too. */
function lenientFields(yaml: string): ParsedFields {
  try {
    return parseFields(yaml);
  } catch (error) {
    if (!(error instanceof PersonaError)) {
      throw error;
    }
    const lines = yaml.split("\n").flatMap((text, index) => {
      const match = /^([a-zA-Z][\w-]*):\s+(\S.*)$/.exec(text);
      return match === null
        ? []
        : [{ key: match[1] ?? "", value: match[2] ?? "", line: index + 2 }];
    });
    if (!lines.some(({ key }) => key === "name") || losesLimit(yaml, lines)) {
      throw error;
    }
    return new Map(lines.map(({ key, value, line }) => [key, { value: unquoted(value), line }]));
  }
}

/** Checks for limits of tools that would get lost because they are written over several lines, or twice. */
function losesLimit(yaml: string, lines: readonly { readonly key: string }[]): boolean {
  return ["tools", ...DENYING].some((name) => {
    const written = yaml.match(new RegExp(`^\\W*${name}\\W*:`, "gim")) ?? [];
    const read = lines.filter(({ key }) => key === name);
    return written.length > 1 || written.length !== read.length;
  });
}

/** `[Read, Grep]` and `"text"` as a line without YAML means them. */
function unquoted(value: string): string {
  return value
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2")
    .replace(/^\[(.*)\]$/, "$1");
}

function textOf(fields: ParsedFields, name: string): string | null {
  const value = fields.get(name)?.value;
  return typeof value === "string" ? value.trim() : null;
}

/** None named means all, as there; named ones that we do not have never become all. */
function foreignTools(value: unknown, here: ToolSet): Noted<string[] | null> {
  if (value === undefined || value === null || value === "*") {
    return { value: null, notes: [] };
  }
  const names = listedNames(value) ?? [];
  const known = names.flatMap((name) => foreignTool(name, here) ?? []);
  const unknown = names.filter((name) => foreignTool(name, here) === null);
  const shown = unknown.map((name) => quotedName(name, here.names));
  return {
    value: [...new Set(known)],
    notes: listNote("these of its tools do not exist here:", shown),
  };
}

function leftOut(fields: ParsedFields): string[] {
  const names = [...fields.keys()].filter((name) => !KNOWN.includes(normalized(name)));
  const shown = names.map((name) => quotedName(name, []));
  return listNote("these fields mean nothing here:", shown);
}

function foreignModel(name: string | null): Noted<string | null> {
  if (name === null || name === "inherit") {
    return { value: null, notes: [] };
  }
  return name.includes(":") && builtInProvider(name.split(":", 1)[0] ?? "") !== undefined
    ? { value: name, notes: [] }
    : { value: null, notes: ["its model is another program's; the session's is used"] };
}
