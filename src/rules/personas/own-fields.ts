import { type Effort, EFFORTS, type Fallback, MAX_FALLBACKS } from "../../core/model-settings.ts";
import { isServerTool, type ToolSet } from "../../core/tools.ts";
import { parseModelName } from "../models/name.ts";
import { personaServers, SERVERS } from "../servers/persona-servers.ts";
import type { McpEntries } from "../servers/server.ts";
import { parseFields, type Field } from "./front-matter.ts";
import { quotedName } from "./unknown-tool.ts";
import { PersonaError } from "./persona-error.ts";

/** The front matter of a persona, checked. */
export interface PersonaFields {
  readonly name: string | null;
  readonly description: string;
  readonly model: string | null;
  readonly effort: Effort | null;
  readonly fallback: Fallback | null;
  readonly tools: readonly string[] | null;
  readonly servers: McpEntries;
  readonly notes: readonly string[];
}

const FIELDS = ["name", "description", "model", "effort", "fallback", "tools", SERVERS];

/**
 * Front matter written for Reprise. An unknown field is an error: a `tool:` or a
 * `read_fiel` that went unnoticed would give an agent other tools than its author meant.
 */
export function ownFields(yaml: string, known: ToolSet, path: string): PersonaFields {
  const fields = parseFields(yaml);
  for (const [name, { line }] of fields) {
    if (!FIELDS.includes(name)) {
      throw new PersonaError(`only ${FIELDS.join(", ")} are known here`, line);
    }
  }
  const names = tools(fields.get("tools"), known);
  return {
    name: text(fields.get("name"), "name"),
    description: text(fields.get("description"), "description") ?? "",
    model: model(fields.get("model")),
    effort: effort(fields.get("effort")),
    fallback: fallback(fields.get("fallback")),
    tools: names,
    servers: servers(fields.get(SERVERS), path),
    notes: absentNote(names ?? [], known),
  };
}

function text(field: Field | undefined, name: string): string | null {
  if (field === undefined) {
    return null;
  }
  if (typeof field.value === "string") {
    return field.value.trim();
  }
  throw new PersonaError(`${name} must be text; put it in quotes`, field.line);
}

function model(field: Field | undefined): string | null {
  const name = text(field, "model");
  return field === undefined || name === null ? null : modelName(name, field);
}

function fallback(field: Field | undefined): Fallback | null {
  if (field === undefined) {
    return null;
  }
  const names = namesIn(field.value);
  if (names === null || names.length > MAX_FALLBACKS) {
    const message = `fallback must be a list of up to ${MAX_FALLBACKS} models; write [] for none`;
    throw new PersonaError(message, field.line);
  }
  if (new Set(names).size < names.length) {
    throw new PersonaError("fallback names a model twice; name each once", field.line);
  }
  return names.map((name) => modelName(name, field));
}

function modelName(name: string, { line }: Field): string {
  try {
    parseModelName(name);
    return name;
  } catch {
    throw new PersonaError("write provider:model, such as ollama:llama3.2", line);
  }
}

function effort(field: Field | undefined): Effort | null {
  const word = text(field, "effort");
  const known = EFFORTS.find((each) => each === word);
  if (field !== undefined && known === undefined) {
    throw new PersonaError(`effort is one of ${EFFORTS.join(", ")}`, field.line);
  }
  return known ?? null;
}

function tools(field: Field | undefined, known: ToolSet): string[] | null {
  if (field === undefined) {
    return null;
  }
  const names = listedNames(field.value);
  if (names === null) {
    const message = "tools must be a list; write [] for none, or leave tools out for all";
    throw new PersonaError(message, field.line);
  }
  const unknown = names.find((name) => !known.has(name) && !isServerTool(name));
  if (unknown !== undefined) {
    const named = quotedName(unknown, known.names);
    throw new PersonaError(
      `${named} is not a tool; the tools are ${known.names.join(", ")}`,
      field.line,
    );
  }
  return names;
}

function servers(field: Field | undefined, path: string): McpEntries {
  const { entries, problems } = personaServers(field?.value, path);
  const [problem] = problems;
  if (problem !== undefined) {
    throw new PersonaError(problem, field?.line);
  }
  return entries;
}

/** Names the tools of servers that are not here: the persona has them wherever the server is. */
function absentNote(names: readonly string[], known: ToolSet): string[] {
  const absent = names.filter((name) => !known.has(name));
  return absent.length === 0
    ? []
    : [`these of its tools are of servers that are not here: ${absent.join(", ")}`];
}

/** As `namesIn`, each once. */
export function listedNames(value: unknown): string[] | null {
  const names = namesIn(value);
  return names === null ? null : [...new Set(names)];
}

/** A list, or names with commas between them; null for anything else, nothing at all too. */
function namesIn(value: unknown): string[] | null {
  const names: unknown = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(names) || (typeof value === "string" && value.trim() === "")) {
    return null;
  }
  const texts = names.filter((name): name is string => typeof name === "string");
  if (texts.length < names.length) {
    return null;
  }
  return texts.map((name) => name.trim()).filter((name) => name !== "");
}
