import type { McpServer } from "@agentclientprotocol/sdk/unstable";

import { RepriseError } from "../core/errors.ts";
import type { Settings } from "../rules/config/settings.ts";
import type { McpEntries, McpEntry } from "../rules/servers/server.ts";

/** Servers of one session at most. */
const MAX_SERVERS = 50;
/** For each request of a server, as in the config by default. */
const TIMEOUT_MS = 60_000;
/** Characters of a name. */
const MAX_NAME = 32;

/**
 * Reads the MCP servers that a client gives a session, as entries of the config. A name gets the characters that names of tools
 * can have.
 *
 * Error codes: `invalid_request` for a server that is spoken with over SSE, for one without a name, for two of one name, and
 * for too many.
 */
export function serversOf(given: readonly McpServer[] = []): McpEntries {
  if (given.length > MAX_SERVERS) {
    throw new RepriseError(
      "invalid_request",
      `A session takes ${MAX_SERVERS} MCP servers of a client at most. Turn some of them off.`,
    );
  }
  const entries: Record<string, McpEntry> = {};
  for (const server of given) {
    const name = nameOf(server.name);
    if (name === "" || Object.hasOwn(entries, name)) {
      throw new RepriseError(
        "invalid_request",
        "Each MCP server needs a name with a letter in it, and each its own. Rename one of them.",
      );
    }
    entries[name] = {
      place: placeOf(server),
      tools: null,
      timeoutMs: TIMEOUT_MS,
      isEnabled: true,
      client: null,
      from: "editor",
      expands: "values",
    };
  }
  return entries;
}

/** Settings of the user with the servers of a client, which come before those of the same name. */
export function withServers(settings: Settings, servers: McpEntries): Settings {
  return {
    config: () => settings.config(),
    at: async (folder) => {
      const found = await settings.at(folder);
      return { ...found, mcp: { ...found.mcp, ...servers } };
    },
  };
}

function nameOf(name: string): string {
  return name
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^[^A-Za-z]+/, "")
    .slice(0, MAX_NAME)
    .replace(/-+$/, "");
}

function placeOf(server: McpServer): McpEntry["place"] {
  if ("command" in server) {
    const { command, args, env } = server;
    return { kind: "program", command, args, env: valuesOf(env) };
  }
  if (server.type === "http") {
    return { kind: "address", url: server.url, headers: valuesOf(server.headers) };
  }
  throw new RepriseError(
    "invalid_request",
    "Reprise speaks with MCP servers over standard input or HTTP only. Choose one of them for this server.",
  );
}

function valuesOf(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
