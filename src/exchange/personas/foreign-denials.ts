import { AGENT_TOOLS } from "../tool-catalogue.ts";
import { deniedTool } from "./foreign-tools.ts";
import type { Field, Fields } from "./front-matter.ts";
import { toolNames } from "./own-fields.ts";
import { PersonaError } from "./persona-error.ts";
import { quotedName } from "./unknown-tool.ts";

/** Limits that another program would keep and that nothing here could: the persona is refused. */
const NOT_KEPT = ["hooks", "isolation", "permission", "permissions"];

/** Fields by which another program limits what an agent does. */
export const DENYING = ["disallowedTools", "permissionMode", ...NOT_KEPT];

const TOOL_NAMES: readonly string[] = AGENT_TOOLS.map(({ name }) => name);

const CHANGING = AGENT_TOOLS.filter(
  ({ name, repeatable }) => !repeatable || name === "delegate",
).map(({ name }) => name);

/** Modes that ask for as much as Reprise gives, or more, which it does not give. */
const WIDE_MODES = ["default", "acceptedits", "auto", "bypasspermissions"];

interface Allowed {
  /** Null for all. */
  readonly value: string[] | null;
  readonly notes: readonly string[];
}

/**
 * The tools that are left of `tools` (null for all). `delegate` goes with any other one: a sub-agent
 * would have what is denied.
 */
export function allowedTools(fields: Fields, tools: readonly string[] | null): Allowed {
  refuseNotKept(fields);
  const names = deniedNames(fieldOf(fields, "disallowedTools"));
  const mode = fieldOf(fields, "permissionMode");
  const denied = [...names.flatMap(deniedBy), ...deniedByMode(mode)];
  const without = [...unknownNotes(names), ...modeNotes(mode)];
  if (denied.length === 0) {
    return { value: tools === null ? null : [...tools], notes: without };
  }
  const all = tools ?? TOOL_NAMES;
  const value = all.filter((name) => name !== "delegate" && !denied.includes(name));
  const lost = all.filter((name) => !value.includes(name));
  const notes = lost.length === 0 ? [] : [`it denies ${lost.join(", ")}`];
  return { value, notes: [...notes, ...without] };
}

function refuseNotKept(fields: Fields): void {
  for (const [name, { line }] of fields) {
    if (NOT_KEPT.includes(normalized(name))) {
      throw new PersonaError(
        `${normalized(name)} limits what the agent does in a way that cannot be kept here; use tools or disallowedTools instead`,
        line,
      );
    }
  }
}

function deniedNames(field: Field | undefined): string[] {
  if (field === undefined || field.value === null) {
    return [];
  }
  const names = toolNames(field.value);
  if (names === null) {
    throw new PersonaError("disallowedTools must be a list of names", field.line);
  }
  return names;
}

function deniedBy(name: string): readonly string[] {
  return name === "*" ? TOOL_NAMES : [deniedTool(name) ?? []].flat();
}

function unknownNotes(names: readonly string[]): string[] {
  const unknown = names.filter((name) => deniedBy(name).length === 0);
  return unknown.length === 0
    ? []
    : [
        `it denies these tools, which do not exist here: ${unknown.map((name) => quotedName(name, TOOL_NAMES)).join(", ")}`,
      ];
}

/** Such a mode asks for fewer questions, and there are none here. */
function modeNotes(field: Field | undefined): string[] {
  const mode = typeof field?.value === "string" ? field.value : "";
  const isWide =
    WIDE_MODES.includes(normalized(mode.trim())) && normalized(mode.trim()) !== "default";
  return isWide ? [`its permissionMode ${quotedName(mode.trim(), [])} changes nothing here`] : [];
}

function deniedByMode(field: Field | undefined): string[] {
  if (field === undefined || field.value === null) {
    return [];
  }
  const mode = typeof field.value === "string" ? normalized(field.value.trim()) : "";
  if (mode === "plan") {
    return CHANGING;
  }
  if (!WIDE_MODES.includes(mode)) {
    const message = "this permissionMode cannot be kept here; write plan, or leave it out";
    throw new PersonaError(message, field.line);
  }
  return [];
}

function fieldOf(fields: Fields, name: string): Field | undefined {
  const found = [...fields].filter(([key]) => normalized(key) === normalized(name));
  if (found.length > 1) {
    throw new PersonaError(`${name} must be there once`, found[1]?.[1].line ?? null);
  }
  return found[0]?.[1];
}

/** One key for the spellings of a field: `disallowed-tools` would be a denial that nobody notices. */
export function normalized(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, "");
}
