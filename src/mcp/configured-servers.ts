import { createHash } from "node:crypto";

import { isSecretName, type Secret } from "../core/secrets.ts";
import type { McpEntries, McpEntry, McpPlace } from "../rules/config/user-config.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A server that may be used in a folder. */
export interface Server {
  readonly name: string;
  /** With the values of variables. */
  readonly place: McpPlace;
  readonly tools: readonly string[] | null;
  readonly timeoutMs: number;
  /** Names the server and its place, without the values of variables. */
  readonly hash: string;
  /** Values that neither models nor people are shown. */
  readonly secrets: readonly Secret[];
}

/** A server of the config that cannot be used, with a sentence that says why. */
export interface UnusableServer {
  readonly name: string;
  readonly problem: string;
}

/** Returns the servers of which a persona has tools. */
export function serversFor(
  { tools }: { readonly tools: readonly string[] | null },
  entries: McpEntries,
): McpEntries {
  return tools === null
    ? entries
    : Object.fromEntries(
        Object.entries(entries).filter(([name]) =>
          tools.some((tool) => tool.startsWith(`${name}__`)),
        ),
      );
}

/** Returns the servers that the config turns on; none without an environment. Starts nothing. */
export function configuredServers(
  entries: McpEntries,
  env: Env | null,
): { readonly servers: readonly Server[]; readonly unusable: readonly UnusableServer[] } {
  const servers: Server[] = [];
  const unusable: UnusableServer[] = [];
  for (const [name, entry] of env === null ? [] : Object.entries(entries)) {
    const { place, isEnabled } = entry;
    if (place === null || !isEnabled) {
      continue;
    }
    const missing = variablesIn(place).find((variable) => (env?.[variable] ?? "") === "");
    if (missing === undefined) {
      servers.push(serverOf(name, { ...entry, place }, env ?? {}));
    } else {
      const problem = `The MCP server ${name} needs the variable ${missing}, which is not set. Set it, or turn the server off.`;
      unusable.push({ name, problem });
    }
  }
  return { servers, unusable };
}

function serverOf(
  name: string,
  { place, tools, timeoutMs }: McpEntry & { readonly place: McpPlace },
  env: Env,
): Server {
  const given = valuesOf(place);
  const values = Object.fromEntries(
    Object.entries(given).map(([key, text]) => [key, withVariables(text, env)]),
  );
  const secrets = Object.entries(values)
    .filter(([key]) => isSecretName(key) || given[key] !== values[key])
    .map(([key, value]) => ({ name: key, value }));
  return {
    name,
    place: place.kind === "program" ? { ...place, env: values } : { ...place, headers: values },
    tools,
    timeoutMs,
    hash: createHash("sha256")
      .update(JSON.stringify([name, place]))
      .digest("hex")
      .slice(0, 16),
    secrets,
  };
}

function valuesOf(place: McpPlace): Readonly<Record<string, string>> {
  return place.kind === "program" ? place.env : place.headers;
}

const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g;

function variablesIn(place: McpPlace): string[] {
  return Object.values(valuesOf(place)).flatMap((text) =>
    Array.from(text.matchAll(VARIABLE), ([, variable = ""]) => variable),
  );
}

function withVariables(text: string, env: Env): string {
  return text.replace(VARIABLE, (_, variable: string) => env[variable] ?? "");
}
