import { storableText } from "../core/text/text.ts";
import { visible } from "../core/text/terminal-text.ts";
import { isServerTool } from "../core/tools.ts";
import { cleanSchema, type ToolSchema } from "./clean-schema.ts";

/** A tool of a server, as a model is given it. */
export interface ListedTool {
  /** The server's own name of it. */
  readonly name: string;
  /** `server__tool`. */
  readonly fullName: string;
  readonly description: string;
  readonly schema: ToolSchema;
}

/** Tools of a server, and what of its list is not used. */
export interface ToolList {
  readonly tools: readonly ListedTool[];
  /** Each a sentence for a person. */
  readonly problems: readonly string[];
}

/** A tool as its server lists it, unchecked. */
export interface GivenTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

/** Bytes of the definition of one tool. */
const MAX_TOOL_BYTES = 16 * 1024;
const MAX_DESCRIPTION = 4000;
/** Sentences about tools of one server that are not used; the others are counted. */
const MAX_PROBLEMS = 5;

/** Bytes of the definitions of all tools of servers in a thread. */
export const MAX_DEFINITION_BYTES = 64 * 1024;

/**
 * Returns what of a server's list a model can be given: names that every provider accepts, schemas that none refuses,
 * and texts without control characters. The rest is left out.
 */
export function listTools(
  server: string,
  given: readonly GivenTool[],
  wanted: readonly string[] | null,
): ToolList {
  const tools = new Map<string, ListedTool>();
  const problems: string[] = [];
  const leaveOut = (name: string, why: string): void => {
    problems.push(`The tool ${shownName(name)} of ${server} is not used: ${why}.`);
  };
  for (const { name, description = "", inputSchema } of given) {
    if (wanted !== null && !wanted.includes(name)) {
      continue;
    }
    const fullName = `${server}__${name}`;
    if (!isServerTool(fullName)) {
      leaveOut(name, "with the name of its server, a name has 64 letters, digits, _ and - at most");
      continue;
    }
    if (tools.has(fullName)) {
      tools.delete(fullName);
      leaveOut(name, "the server lists two tools of this name");
      continue;
    }
    const schema = cleanSchema(inputSchema);
    if (typeof schema === "string") {
      leaveOut(name, schema);
      continue;
    }
    const tool = { name, fullName, description: cleanDescription(description), schema };
    if (bytesOf(tool) > MAX_TOOL_BYTES) {
      leaveOut(name, `its definition has more than ${MAX_TOOL_BYTES / 1024} KiB`);
      continue;
    }
    tools.set(fullName, tool);
  }
  const others = problems.splice(MAX_PROBLEMS).length;
  if (others > 0) {
    problems.push(`${others.toLocaleString("en")} more tools of ${server} are not used.`);
  }
  const missing = (wanted ?? []).filter((name) => !given.some((tool) => tool.name === name));
  for (const name of missing) {
    problems.push(`The server ${server} has no tool ${shownName(name)}, which the config names.`);
  }
  return { tools: [...tools.values()], problems };
}

/** Returns the tools that fit into what a thread may have, the first ones first, and those that do not. */
export function fitting(tools: readonly ListedTool[]): {
  readonly tools: readonly ListedTool[];
  readonly left: readonly ListedTool[];
} {
  let bytes = 0;
  const fits = tools.map((tool) => {
    const size = bytesOf(tool);
    const isFitting = bytes + size <= MAX_DEFINITION_BYTES;
    bytes += isFitting ? size : 0;
    return isFitting;
  });
  return { tools: tools.filter((_, at) => fits[at]), left: tools.filter((_, at) => !fits[at]) };
}

function bytesOf({ fullName, description, schema }: ListedTool): number {
  return Buffer.byteLength(JSON.stringify([fullName, description, schema]));
}

function cleanDescription(text: string): string {
  const clean = visible(storableText(text.slice(0, 2 * MAX_DESCRIPTION))).trim();
  return clean.length > MAX_DESCRIPTION ? `${clean.slice(0, MAX_DESCRIPTION - 1)}…` : clean;
}

function shownName(name: string): string {
  const line = visible(storableText(name.slice(0, 200))).replaceAll("\n", " ");
  return `"${line.length > 80 ? `${line.slice(0, 79)}…` : line}"`;
}
