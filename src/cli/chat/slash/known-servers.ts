import type { KeptOffers } from "../../../mcp/kept-lists.ts";
import { mcpFolderPath, settingsOf, trustSource } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import type { CommandUsage } from "../command-usage.ts";

/** An MCP server that a message can name, with what it had when it was last asked. */
export interface KnownServer extends KeptOffers {
  readonly name: string;
}

/**
 * Returns the MCP servers that are used in a folder, but for those of personas. Starts none, and asks none.
 *
 * Error codes: `config_invalid`.
 */
export async function knownServers(
  cli: CliContext,
  folder: string | null,
): Promise<readonly KnownServer[]> {
  const [{ configuredServers }, { readKeptOffers }, { serversHere }, { workFolder }] =
    await Promise.all([
      import("../../../mcp/configured-servers.ts"),
      import("../../../mcp/kept-lists.ts"),
      import("../../../rules/servers/servers-here.ts"),
      import("../../../rules/trust/wide-folder.ts"),
    ]);
  const trust = trustSource(cli);
  const here = await serversHere({
    configured: (await settingsOf(cli).at(folder)).mcp,
    persona: null,
    folder: (await workFolder(folder, trust)).path,
    trust,
  });
  const { servers } = configuredServers(here, cli.env);
  return Promise.all(
    servers.map(async (server) => ({
      name: server.name,
      ...(await readKeptOffers(mcpFolderPath(cli), server)),
    })),
  );
}

/** The prompts of servers as commands, for completion. */
export function promptCommands(servers: readonly KnownServer[]): readonly CommandUsage[] {
  return servers.flatMap(({ name: server, prompts }) =>
    prompts.map(({ name, arguments: args }): CommandUsage => {
      const taken = args.map((each) => (each.isRequired ? `<${each.name}>` : `[${each.name}]`));
      return {
        name: `${server}:${name}`,
        ...(taken.length === 0 ? {} : { argument: taken.join(" ") }),
        help: `prompt of the MCP server ${server}`,
      };
    }),
  );
}
