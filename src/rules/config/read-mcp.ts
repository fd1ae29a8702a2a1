import { findNodeAtLocation, type Node } from "jsonc-parser";

import type { Report } from "./read-value.ts";
import type { ConfigText, McpText, SectionText } from "./schema.ts";
import {
  MCP_TIMEOUT_MS,
  type McpClient,
  type McpEntries,
  type McpEntry,
  type McpPlace,
} from "../servers/server.ts";

export function mcpEntries(servers: SectionText["mcp"] = {}): McpEntries {
  return Object.fromEntries(Object.entries(servers).map(([name, text]) => [name, entryOf(text)]));
}

function entryOf(text: McpText): McpEntry {
  return {
    place: placeOf(text),
    client: clientOf(text.oauth),
    tools: text.tools ?? null,
    timeoutMs: text.timeout_ms ?? MCP_TIMEOUT_MS,
    isEnabled: text.enabled ?? true,
    from: "config",
    expands: "values",
  };
}

function clientOf(oauth: McpText["oauth"] = {}): McpClient | null {
  const { client_id, client_secret, callback_port } = oauth;
  return client_id === undefined
    ? null
    : { id: client_id, secret: client_secret ?? null, port: callback_port ?? null };
}

function placeOf({ command, args = [], env = {}, url, headers = {} }: McpText): McpPlace | null {
  if (command !== undefined) {
    return { kind: "program", command, args, env };
  }
  return url === undefined ? null : { kind: "address", url, headers };
}

/** Finds servers without a place, and keys that have no effect beside the place. */
export function reportUselessServers(root: Node, text: ConfigText, report: Report): void {
  const sections: readonly (readonly [path: readonly string[], section: SectionText])[] = [
    [[], text],
    ...Object.entries(text.folders ?? {}).map(
      ([folder, section]) => [["folders", folder], section] as const,
    ),
  ];
  for (const [path, { mcp = {} }] of sections) {
    for (const [name, server] of Object.entries(mcp)) {
      for (const { member, message } of uselessIn(server)) {
        const at = [...path, "mcp", name, ...(member === null ? [] : [member])];
        const node = findNodeAtLocation(root, at);
        if (node !== undefined) {
          report(node, message);
        }
      }
    }
  }
}

function uselessIn(server: McpText): { member: keyof McpText | null; message: string }[] {
  const { command, url, enabled } = server;
  if (command === undefined && url === undefined) {
    return enabled === false
      ? []
      : [{ member: null, message: "A server needs a command or a url, unless it is turned off." }];
  }
  const others =
    command === undefined ? (["args", "env"] as const) : (["headers", "oauth"] as const);
  const needed = command === undefined ? "command" : "url";
  const useless = others
    .filter((member) => server[member] !== undefined)
    .map((member) => ({ member, message: `This is for a server with a ${needed}.` }));
  const lacksClient = server.oauth !== undefined && server.oauth.client_id === undefined;
  return lacksClient
    ? [...useless, { member: "oauth", message: "This needs the key client_id." }]
    : useless;
}
