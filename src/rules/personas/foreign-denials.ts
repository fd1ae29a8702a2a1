import { isHarmless, type ToolSet } from "../../core/tools.ts";
import { DELEGATE, GIT_COMMIT, RUN_COMMAND } from "../tools/built-in.ts";
import { deniedOfServers, deniedTool } from "./foreign-tools.ts";
import type { Field, ParsedFields } from "./front-matter.ts";
import { listedNames } from "./own-fields.ts";
import { PersonaError } from "./persona-error.ts";
import { quotedName } from "./unknown-tool.ts";

/** Limits that another program would keep and that nothing here could: the persona is refused. */
const NOT_KEPT = ["hooks", "isolation", "permission", "permissions"];

/** Fields by which another program limits what an agent does. */
export const DENYING = ["disallowedTools", "permissionMode", ...NOT_KEPT];

/** Modes that ask for more than Reprise gives. */
const WIDE_MODES = ["acceptedits", "auto", "bypasspermissions"];

/** Value of a file of another program, and what of the file was left out. */
export interface Noted<Value> {
  readonly value: Value;
  readonly notes: readonly string[];
}

/**
 * The tools that are left of `tools` (null for all). `delegate` goes with any other one, also of a server: a sub-agent
 * would have what is denied. So does `run_command`, unless only sub-agents are denied: a command could do it.
 */
export function allowedTools(
  fields: ParsedFields,
  tools: readonly string[] | null,
  known: ToolSet,
): Noted<readonly string[] | null> {
  refuseNotKept(fields);
  const names = deniedNames(fieldOf(fields, "disallowedTools"));
  const mode = deniedByMode(fieldOf(fields, "permissionMode"), known);
  const denied = [...names.flatMap((name) => deniedBy(name, known)), ...mode.value];
  const ofServers = names.flatMap((name) => deniedOfServers(name) ?? []);
  const unknown = names.filter(
    (name) => deniedBy(name, known).length === 0 && deniedOfServers(name) === null,
  );
  const shown = unknown.map((name) => quotedName(name, known.names));
  const without = [
    ...listNote("it denies these tools, which do not exist here:", shown),
    ...mode.notes,
    ...(ofServers.length > 0 && tools === null
      ? ["it denies tools of MCP servers, so it has no tools of servers"]
      : []),
  ];
  if (denied.length === 0 && ofServers.length === 0) {
    return { value: tools, notes: without };
  }
  const all = tools ?? known.names;
  const isOfOwnTools = denied.some((name) => name !== DELEGATE.name);
  const indirect = (isOfOwnTools ? [DELEGATE, RUN_COMMAND, GIT_COMMIT] : [DELEGATE]).map(
    ({ name }) => name,
  );
  const value = all.filter(
    (name) =>
      !ofServers.some((each) => isOfDenied(name, each)) &&
      !indirect.includes(name) &&
      [{ name }, ...(known.get(name).composedOf ?? [])].every(
        (each) => !denied.includes(each.name),
      ),
  );
  const lost = all.filter((name) => !value.includes(name));
  return { value, notes: [...listNote("it denies", lost), ...without] };
}

/** True for a tool of a server that is denied by its name or with all of its server, in any spelling. */
function isOfDenied(name: string, denied: string): boolean {
  const [tool, whole] = [name.toLowerCase(), denied.toLowerCase()];
  return (
    tool.includes("__") && (tool === whole || tool.startsWith(whole === "" ? "" : `${whole}__`))
  );
}

/** A note that ends with a list; none if the list is empty. */
export function listNote(start: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${start} ${names.join(", ")}`];
}

function refuseNotKept(fields: ParsedFields): void {
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
  const names = field === undefined ? [] : listedNames(field.value);
  if (names === null) {
    throw new PersonaError("disallowedTools must be a list of names", field?.line);
  }
  return names;
}

function deniedBy(name: string, known: ToolSet): readonly string[] {
  return name === "*" ? known.names : [deniedTool(name, known) ?? []].flat();
}

/** A wide mode asks for fewer questions, and there are none here. */
function deniedByMode(field: Field | undefined, known: ToolSet): Noted<readonly string[]> {
  const written = typeof field?.value === "string" ? field.value.trim() : "";
  const mode = normalized(written);
  if (field === undefined || mode === "default") {
    return { value: [], notes: [] };
  }
  if (mode === "plan") {
    const changing = [...known].filter((tool) => !isHarmless(tool));
    return { value: [...changing, DELEGATE].map(({ name }) => name), notes: [] };
  }
  if (!WIDE_MODES.includes(mode)) {
    const message = "this permissionMode cannot be kept here; write plan, or leave it out";
    throw new PersonaError(message, field.line);
  }
  return {
    value: [],
    notes: [`its permissionMode ${quotedName(written, [])} changes nothing here`],
  };
}

/** Undefined for a field without a value, too. */
function fieldOf(fields: ParsedFields, name: string): Field | undefined {
  const found = [...fields].filter(([key]) => normalized(key) === normalized(name));
  if (found.length > 1) {
    throw new PersonaError(`${name} must be there once`, found[1]?.[1].line ?? null);
  }
  const field = found[0]?.[1];
  return field?.value === null ? undefined : field;
}

/** Returns one key for the spellings of a field: `disallowed-tools` would be a denial that goes unnoticed. */
export function normalized(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, "");
}
