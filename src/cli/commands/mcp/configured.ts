import { isRepriseError } from "../../../core/errors.ts";
import { personaFolderPaths, settingsOf, trustSource } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** The servers of a session in this folder. Error codes: `config_invalid`, `persona_not_found`, `persona_invalid`. */
export async function configured(cli: CliContext, persona: string | undefined) {
  const [{ configuredServers }, { serversHere }, { workFolder }] = await Promise.all([
    import("../../../mcp/configured-servers.ts"),
    import("../../../rules/servers/servers-here.ts"),
    import("../../../rules/trust/wide-folder.ts"),
  ]);
  const settings = await settingsOf(cli).at(cli.cwd);
  const trust = trustSource(cli);
  const here = await serversHere({
    configured: settings.mcp,
    persona: await personaOf(cli, persona, settings.persona),
    folder: (await workFolder(cli.cwd, trust)).path,
    trust,
  });
  return { here, ...configuredServers(here, cli.env) };
}

/** The persona that a session would have; null if it is none that can be used and nobody named it. */
async function personaOf(cli: CliContext, given: string | undefined, configured: string | null) {
  const [{ loadPersona }, { DEFAULT_PERSONA }] = await Promise.all([
    import("../../../rules/personas/load.ts"),
    import("../../../rules/personas/persona.ts"),
  ]);
  const name = given ?? configured ?? DEFAULT_PERSONA;
  const input = { name, repoPath: cli.cwd, ...personaFolderPaths(cli) };
  return loadPersona(input).catch((error: unknown) => {
    if (given === undefined && isRepriseError(error)) {
      return null;
    }
    throw error;
  });
}

/** Returns the error for a name that no server has. */
export function noSuchServer(names: readonly string[]) {
  return wrongUsage(
    names.length === 0
      ? "There is no MCP server."
      : `There is no MCP server of this name; the servers are ${names.join(", ")}.`,
  );
}
