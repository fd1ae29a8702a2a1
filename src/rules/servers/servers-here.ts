import { oneLine } from "../../core/text/terminal-text.ts";
import type { Persona } from "../personas/persona.ts";
import { isSeen, isTrusted, type TrustSource } from "../trust/trust.ts";
import { serversDigest } from "./consent.ts";
import { readMcpFile } from "./mcp-file.ts";
import { MCP_FILE, type McpEntries, type McpEntry } from "./server.ts";

/** The MCP servers of a folder, for a session of it in which a persona answers. */
export interface ServersHere {
  /** Those that may be used. */
  readonly entries: McpEntries;
  /** Those that may not. */
  readonly held: readonly HeldServer[];
  /** Parts of the folder's file that cannot be used, each a sentence for a person. */
  readonly problems: readonly string[];
}

export interface HeldServer {
  readonly name: string;
  readonly entry: McpEntry;
  /** `replaced`: another one of this name counts. */
  readonly why: "not_trusted" | "not_seen" | "replaced";
}

/**
 * Puts the servers together, the weakest first: those of `.mcp.json`, of a persona of the folder, of the user's config,
 * of a persona of the user. One of the folder may be used if the user trusts the folder and was shown exactly what its
 * file would start. Starts nothing. Never throws.
 */
export async function serversHere({
  configured,
  persona,
  folder,
  trust,
}: {
  readonly configured: McpEntries;
  readonly persona: Pick<Persona, "servers" | "source" | "path"> | null;
  /** Null for none. */
  readonly folder: string | null;
  readonly trust: TrustSource;
}): Promise<ServersHere> {
  const file = folder === null ? { entries: {}, problems: [] } : await readMcpFile(folder);
  const isOfFolder = persona?.source === "repository";
  const ofPersona = persona?.servers ?? {};
  const layers = [
    await ofFolder(MCP_FILE, file.entries),
    isOfFolder ? await ofFolder(persona.path, ofPersona) : [],
    free(configured),
    isOfFolder ? [] : free(ofPersona),
  ];
  const last = new Map<string, Layered>();
  const held: HeldServer[] = [];
  for (const each of layers.flat()) {
    const before = last.get(each.name);
    if (before !== undefined) {
      held.push({ name: before.name, entry: before.entry, why: "replaced" });
    }
    last.set(each.name, each);
  }
  const all = [...last.values()];
  const isUsed = file.problems.length > 0 && (await trusted());
  return {
    entries: Object.fromEntries(
      all.filter(({ why }) => why === null).map(({ name, entry }) => [name, entry]),
    ),
    held: [...held, ...all.flatMap(({ why, ...each }) => (why === null ? [] : { ...each, why }))],
    problems: isUsed ? file.problems : [],
  };

  async function trusted(): Promise<boolean> {
    return folder !== null && (await isTrusted(trust, folder));
  }

  async function ofFolder(path: string, entries: McpEntries): Promise<readonly Layered[]> {
    if (folder === null || Object.keys(entries).length === 0) {
      return [];
    }
    const isAllowed = await isSeen(trust, folder, serversDigest(path, entries));
    const why = isAllowed ? null : (await trusted()) ? "not_seen" : "not_trusted";
    return Object.entries(entries).map(([name, entry]) => ({ name, entry, why }));
  }
}

interface Layered {
  readonly name: string;
  readonly entry: McpEntry;
  readonly why: "not_trusted" | "not_seen" | null;
}

function free(entries: McpEntries): readonly Layered[] {
  return Object.entries(entries).map(([name, entry]) => ({ name, entry, why: null }));
}

/** Says why a server is not used, and what to do. */
export function heldSentence({ name, entry, why }: HeldServer): string {
  const from = oneLine(entry.from);
  switch (why) {
    case "not_trusted":
      return `The MCP server ${name} of ${from} is not used, because the folder is not trusted. \`reprise trust add\` shows what it starts and lets it run.`;
    case "not_seen":
      return `${from} has MCP servers that you have not seen, so none of them is started. \`reprise trust add\` shows them and lets them run.`;
    case "replaced":
      return `The MCP server ${name} of ${from} is not used, because another one of this name counts.`;
  }
}
