import { createHash } from "node:crypto";

import { oneLine } from "../core/text/terminal-text.ts";
import { isSecretName, type Secret, withEncoded } from "../core/secrets.ts";
import {
  expandedTexts,
  type McpClient,
  type McpEntry,
  type McpPlace,
  withVariables,
} from "../rules/servers/server.ts";
import { heldSentence, type ServersHere } from "../rules/servers/servers-here.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A server that may be used in a folder. */
export interface Server {
  readonly name: string;
  /** With the values of variables. */
  readonly place: McpPlace;
  readonly tools: readonly string[] | null;
  readonly timeoutMs: number;
  /** A registered client for logins, with the value of its secret; null for none. */
  readonly client: McpClient | null;
  /** Names the server and its place, without the values of variables. */
  readonly hash: string;
  /** Values that neither models nor people are shown. */
  readonly secrets: readonly Secret[];
}

/** A server that cannot be used, with a sentence that says why. */
export interface UnusableServer {
  readonly name: string;
  readonly problem: string;
}

/** The servers of a session. */
export interface ConfiguredServers {
  readonly servers: readonly Server[];
  readonly unusable: readonly UnusableServer[];
  /** Sentences for a person about what else is not used. */
  readonly problems: readonly string[];
}

/** Returns the servers of which a persona has tools. */
export function serversFor(
  { tools }: { readonly tools: readonly string[] | null },
  { entries, held, problems }: ServersHere,
): ServersHere {
  const isUsed = (name: string): boolean =>
    tools === null || tools.some((tool) => tool.startsWith(`${name}__`));
  return {
    entries: Object.fromEntries(Object.entries(entries).filter(([name]) => isUsed(name))),
    held: held.filter(({ name }) => isUsed(name)),
    problems,
  };
}

/** Returns the servers that are turned on; none without an environment. Starts nothing. */
export function configuredServers(
  { entries, held, problems }: ServersHere,
  env: Env | null,
): ConfiguredServers {
  if (env === null) {
    return { servers: [], unusable: [], problems: [] };
  }
  const servers: Server[] = [];
  const unusable = held
    .filter(({ why }) => why === "not_seen")
    .map((each): UnusableServer => ({ name: each.name, problem: heldSentence(each) }));
  for (const [name, entry] of Object.entries(entries)) {
    const { place, isEnabled } = entry;
    if (place === null || !isEnabled) {
      continue;
    }
    const found = serverOf(name, { ...entry, place }, env);
    if (typeof found === "string") {
      unusable.push({ name, problem: found });
    } else {
      servers.push(found);
    }
  }
  return { servers, unusable, problems };
}

/** Returns the server, or a sentence that says why it cannot be used. */
function serverOf(
  name: string,
  entry: McpEntry & { readonly place: McpPlace },
  env: Env,
): Server | string {
  const { place, tools, timeoutMs } = entry;
  const missing = missingVariable(entry, env);
  if (missing !== null) {
    return `The MCP server ${name} needs the variable ${missing}, which is not set. Set it, or turn the server off.`;
  }
  const { place: expanded, client, secrets } = withValues(entry, env);
  if (expanded.kind === "address" && !isAddress(expanded.url)) {
    return `The MCP server ${name} cannot be used: its address is none once its variables are replaced.`;
  }
  if (expanded.kind === "address" && !Object.values(expanded.headers).every(isHeaderValue)) {
    return `The MCP server ${name} cannot be used: a header has other characters than visible ASCII and spaces once its variables are replaced.`;
  }
  return {
    name,
    place: expanded,
    tools,
    timeoutMs,
    client,
    hash: createHash("sha256")
      .update(JSON.stringify([name, place]))
      .digest("hex")
      .slice(0, 16),
    secrets: withEncoded(secrets),
  };
}

function missingVariable(entry: McpEntry, env: Env): string | null {
  let missing: string | null = null;
  for (const text of expandedTexts(entry)) {
    withVariables(text, (variable, fallback) => {
      missing ??= (env[variable] ?? "") !== "" || fallback !== null ? null : variable;
      return "";
    });
  }
  return missing;
}

/** Replaces the variables of a place. Secret is what a variable gave, and what a name says. */
function withValues(
  { place, client, expands }: McpEntry & { readonly place: McpPlace },
  env: Env,
): {
  readonly place: McpPlace;
  readonly client: McpClient | null;
  readonly secrets: readonly Secret[];
} {
  const secrets: Secret[] = [];
  const expanded = (text: string, onValue: (name: string, value: string) => void): string =>
    withVariables(text, (variable, fallback) => {
      const value = env[variable] ?? "";
      if (value === "") {
        return fallback ?? "";
      }
      onValue(variable, value);
      return value;
    });
  const inWords = (text: string): string =>
    expands === "values"
      ? text
      : expanded(text, (name, value) => {
          if (isSecretName(name)) {
            secrets.push({ name, value });
          }
        });
  const inValues = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).map(([key, text]) => {
        let isSecret = isSecretName(key);
        const value = expanded(text, () => {
          isSecret = true;
        });
        if (isSecret) {
          secrets.push({ name: key, value });
        }
        return [key, value];
      }),
    );
  const secret = client?.secret ?? null;
  return {
    client:
      client === null || secret === null
        ? client
        : { ...client, secret: inValues({ client_secret: secret })["client_secret"] ?? null },
    place:
      place.kind === "program"
        ? {
            ...place,
            command: inWords(place.command),
            args: place.args.map(inWords),
            env: inValues(place.env),
          }
        : { ...place, url: inWords(place.url), headers: inValues(place.headers) },
    secrets,
  };
}

function isHeaderValue(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function isAddress(text: string): boolean {
  return /^https?:\/\/[^/]/.test(text) && URL.canParse(text) && oneLine(text) === text;
}
