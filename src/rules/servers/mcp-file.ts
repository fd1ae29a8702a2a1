import { join } from "node:path";

import { readStart, type Unusable } from "../personas/text-file.ts";
import { type ForeignServers, foreignServers } from "./foreign-servers.ts";
import { MCP_FILE } from "./server.ts";

/** Bytes of a file with servers. */
export const MAX_MCP_FILE_BYTES = 256 * 1024;
/** A file of somebody else must not fill the screen. */
const MAX_PROBLEMS = 5;

const NONE: ForeignServers = { entries: {}, problems: [] };

/** Why a file is not used, as the end of a sentence. */
const PROBLEMS: Readonly<Record<Exclude<Unusable, "missing">, string>> = {
  not_a_file: "it is not a file",
  outside: "it leads out of the folder",
  unreadable: "it cannot be read",
};

/** Returns the text of `.mcp.json` of a folder, or why it is not used, as the end of a sentence; null if there is none. */
export async function readMcpText(
  folder: string,
): Promise<{ readonly text: string } | { readonly problem: string } | null> {
  const start = await readStart({
    path: join(folder, MCP_FILE),
    within: folder,
    maxBytes: MAX_MCP_FILE_BYTES,
  });
  if (start === "missing") {
    return null;
  }
  if (typeof start === "string") {
    return { problem: PROBLEMS[start] };
  }
  return start.cut
    ? { problem: "it is larger than 256 KiB" }
    : { text: start.bytes.toString("utf8") };
}

/**
 * Reads the servers that `.mcp.json` of a folder names, trusted or not: nothing of them acts. What cannot be used is
 * left out, with sentences for a person. Never throws.
 */
export async function readMcpFile(folder: string): Promise<ForeignServers> {
  const read = await readMcpText(folder);
  if (read === null) {
    return NONE;
  }
  if ("problem" in read) {
    return unused(read.problem);
  }
  const servers = serversIn(read.text.replace(/^\u{FEFF}/u, ""));
  if (typeof servers === "string") {
    return unused(servers);
  }
  const { entries, problems } = foreignServers(servers.value, MCP_FILE);
  return {
    entries,
    problems: problems.slice(0, MAX_PROBLEMS).map((problem) => `In ${MCP_FILE}, ${problem}.`),
  };
}

function serversIn(text: string): { readonly value: unknown } | string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && Object.hasOwn(value, "mcpServers")
      ? { value: Reflect.get(value, "mcpServers") }
      : "it has no mcpServers";
  } catch {
    return "it is not JSON";
  }
}

function unused(why: string): ForeignServers {
  return { entries: {}, problems: [`${MCP_FILE} is not used: ${why}.`] };
}
