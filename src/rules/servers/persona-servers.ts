import { type ForeignServers, foreignServers } from "./foreign-servers.ts";

/** Its name in the front matter of a persona. */
export const SERVERS = "mcpServers";

/**
 * Reads the servers of a persona: an object as in `.mcp.json`, or Claude Code's list of names and of objects with one
 * server each ("Scope MCP servers to a subagent" of code.claude.com/docs/en/sub-agents). A name is a server that is
 * configured elsewhere, which a persona has anyway.
 */
export function personaServers(given: unknown, path: string): ForeignServers {
  if (given === undefined || given === null) {
    return { entries: {}, problems: [] };
  }
  if (!Array.isArray(given)) {
    return foreignServers(given, path);
  }
  const read = given
    .filter((each) => typeof each !== "string")
    .map((each: unknown) => foreignServers(each, path));
  return {
    entries: Object.fromEntries(read.flatMap(({ entries }) => Object.entries(entries))),
    problems: read.flatMap(({ problems }) => problems),
  };
}
