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

/** Lines and characters that a person is shown at once. */
const MAX_SHOWN = { lines: 100, characters: 64 * 1024 };

/** Returns the first ones that a person can read at once, and how many are left for the next time. */
export function firstShown(startables: readonly Startable[]): {
  readonly shown: readonly Startable[];
  readonly left: number;
} {
  let [lines, characters, count] = [0, 0, 0];
  for (const startable of startables) {
    lines += startable.lines.length;
    characters += startable.lines.reduce((sum, line) => sum + line.length, 0);
    // the reader of a file bounds it
    if (count > 0 && (lines > MAX_SHOWN.lines || characters > MAX_SHOWN.characters)) {
      break;
    }
    count += 1;
  }
  return { shown: startables.slice(0, count), left: startables.length - count };
}

/** Says that some were not shown; null for none. */
export function leftSentence(left: number): string | null {
  return left === 0
    ? null
    : `${left === 1 ? "One more file names" : `${left} more files name`} what would be started. It stays off until it is shown: run \`reprise trust add\` in the folder again.`;
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
