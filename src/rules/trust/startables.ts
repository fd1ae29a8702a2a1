import { repositoryHooks } from "../config/repository.ts";
import { hooksDigest } from "../hooks/digest.ts";
import { hookLine } from "../hooks/hook.ts";
import { isBroken, type PersonaEntry } from "../personas/persona.ts";
import { serverLine, serversDigest } from "../servers/consent.ts";
import { readMcpFile } from "../servers/mcp-file.ts";
import { MCP_FILE, type McpEntries } from "../servers/server.ts";

/** What a file of a folder would run. A person is shown it first, and a yes counts for exactly that. */
export interface Startable {
  readonly kind: "hook" | "MCP server";
  /** One for each command or address. They may have any characters. */
  readonly lines: readonly string[];
  /** Changes whenever anything of it changes. */
  readonly digest: string;
}

/** Lists what a folder and these personas of it would run, trusted or not. Nothing of it acts. Never throws. */
export async function startablesOf(
  folder: string,
  personas: readonly PersonaEntry[],
): Promise<readonly Startable[]> {
  const [hooks, file] = await Promise.all([repositoryHooks(folder), readMcpFile(folder)]);
  return [
    ...(hooks.length === 0
      ? []
      : [{ kind: "hook", lines: hooks.map(hookLine), digest: hooksDigest(hooks) } as const]),
    ...serversOf(MCP_FILE, file.entries),
    ...personas.flatMap((entry) =>
      isBroken(entry) || entry.source !== "repository" ? [] : serversOf(entry.path, entry.servers),
    ),
  ];
}

function serversOf(file: string, entries: McpEntries): Startable[] {
  const named = Object.entries(entries);
  return named.length === 0
    ? []
    : [
        {
          kind: "MCP server",
          lines: named.map(
            ([name, entry]) => serverLine(name, entry) + (file === MCP_FILE ? "" : ` (${file})`),
          ),
          digest: serversDigest(file, entries),
        },
      ];
}
