import { oneLine } from "../../core/text/terminal-text.ts";
import { SERVER_NAME } from "../../core/tools.ts";
import {
  MCP_TIMEOUT_MS,
  type McpClient,
  type McpEntries,
  type McpEntry,
  type McpPlace,
} from "./server.ts";

/** Servers that a file of another program names, and what of it is not used. */
export interface ForeignServers {
  readonly entries: McpEntries;
  /** Each the end of a sentence that begins with the file, without the file's own texts but for a cleaned name. */
  readonly problems: readonly string[];
}

const MAX_SERVERS = 50;
const MAX_TEXT = 4096;
const MAX_LIST = 200;
/** Characters of a server, all of which are shown before it may start. */
const MAX_PLACE = 8192;
/** Characters of all servers of a file, for the same reason. */
const MAX_PLACES = 32 * 1024;
const MAX_NAME = 60;

const VARIABLE_NAME = /^[A-Za-z_]\w{0,255}$/;
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;

class Refused extends Error {}

/**
 * Reads `mcpServers` in the form of Claude Code: "MCP installation scopes" and "Environment variable expansion" of
 * code.claude.com/docs/en/mcp. A server that cannot be used costs itself and no other one.
 */
export function foreignServers(given: unknown, from: string): ForeignServers {
  if (!isRecord(given)) {
    return { entries: {}, problems: ["mcpServers must be an object with a server for each name"] };
  }
  const all = Object.entries(given);
  const entries: [string, McpEntry][] = [];
  const problems: string[] = [];
  let characters = 0;
  for (const [name, server] of all.slice(0, MAX_SERVERS)) {
    try {
      const entry = entryOf(server, from);
      const size = JSON.stringify(entry.place).length;
      if (characters + size > MAX_PLACES) {
        throw new Refused("with those before it, it is more than a person can read");
      }
      entries.push([checkedName(name), entry]);
      characters += size;
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      problems.push(`the server ${shownName(name)} is not used: ${error.message}`);
    }
  }
  if (all.length > MAX_SERVERS) {
    problems.push(`it names more than ${MAX_SERVERS} servers; the others are not used`);
  }
  return { entries: Object.fromEntries(entries), problems };
}

function checkedName(name: string): string {
  if (!new RegExp(SERVER_NAME).test(name)) {
    throw new Refused(
      "a name has 1 to 32 letters, digits, - and single _, and begins with a letter",
    );
  }
  return name;
}

function entryOf(server: unknown, from: string): McpEntry {
  if (!isRecord(server)) {
    throw new Refused("it must be an object");
  }
  const place = placeOf(server);
  if (JSON.stringify(place).length > MAX_PLACE) {
    throw new Refused("its texts are too long for a person to read");
  }
  return {
    place,
    client: clientIn(server["oauth"]),
    tools: null,
    timeoutMs: MCP_TIMEOUT_MS,
    isEnabled: true,
    from,
    expands: "all",
  };
}

function placeOf(server: Readonly<Record<string, unknown>>): McpPlace {
  const { type, command, url, args, env, headers } = server;
  if (command !== undefined && url !== undefined) {
    throw new Refused("it has a command and a url; give one of them");
  }
  const isAddress = type === "http" || type === "streamable-http" || type === "streamableHttp";
  if (type === "sse") {
    throw new Refused("the type sse is not spoken any more; use http if the server has it");
  }
  if (type !== undefined && type !== "stdio" && !isAddress) {
    throw new Refused("its type is not stdio or http");
  }
  if (isAddress || (type === undefined && url !== undefined)) {
    const address = textIn(url, "url");
    if (!/^(?:https?:\/\/[^/]|\$\{)/.test(address)) {
      throw new Refused("its url must be an address with its scheme");
    }
    return {
      kind: "address",
      url: address,
      headers: textsIn(headers, "headers", (name, value) => {
        return HEADER_NAME.test(name) && HEADER_VALUE.test(value);
      }),
    };
  }
  if (command === undefined) {
    throw new Refused("it needs a command or a url");
  }
  return {
    kind: "program",
    command: textIn(command, "command"),
    args: argsIn(args),
    env: textsIn(env, "env", (name) => VARIABLE_NAME.test(name)),
  };
}

/** A client that the file names: it has no secret. */
function clientIn(given: unknown): McpClient | null {
  if (!isRecord(given) || given["clientId"] === undefined) {
    return null;
  }
  const port = given["callbackPort"] ?? null;
  const isPort = typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536;
  if (port !== null && !isPort) {
    throw new Refused("its callbackPort must be a port");
  }
  return { id: textIn(given["clientId"], "clientId"), secret: null, port: isPort ? port : null };
}

function argsIn(given: unknown): readonly string[] {
  if (given === undefined) {
    return [];
  }
  if (!Array.isArray(given) || given.length > MAX_LIST || !given.every(isText)) {
    throw new Refused(`its args must be a list of ${MAX_LIST} texts at most`);
  }
  return given;
}

function textsIn(
  given: unknown,
  member: string,
  isUsable: (name: string, value: string) => boolean,
): Readonly<Record<string, string>> {
  if (given === undefined) {
    return {};
  }
  const found = isRecord(given) ? Object.entries(given) : null;
  if (
    found === null ||
    found.length > MAX_LIST ||
    !found.every(([name, value]) => isText(value) && isUsable(name, value))
  ) {
    throw new Refused(`its ${member} must be an object of names and texts`);
  }
  return Object.fromEntries(found as [string, string][]);
}

function textIn(given: unknown, member: string): string {
  if (!isText(given) || given.trim() === "") {
    throw new Refused(`its ${member} must be a text of up to ${MAX_TEXT} characters`);
  }
  return given;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_TEXT && !value.includes("\0");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shownName(name: string): string {
  const line = oneLine(name.slice(0, 2 * MAX_NAME));
  return `"${line.length > MAX_NAME ? `${line.slice(0, MAX_NAME - 1)}…` : line}"`;
}
