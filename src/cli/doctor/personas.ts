import type { Check } from "../../store/doctor/check.ts";
import { personaPlaces } from "../config.ts";
import type { CliContext } from "../context.ts";
import { plural } from "../plural.ts";

/** The personas that a session in this folder could choose, and the files that are none. */
export async function checkPersonas(cli: CliContext): Promise<Check[]> {
  const [{ listPersonas }, { isBroken }] = await Promise.all([
    import("../../agent/personas/list.ts"),
    import("../../agent/personas/persona.ts"),
  ]);
  const entries = await listPersonas({ ...personaPlaces(cli), repoPath: cli.cwd });
  const broken = entries.filter(isBroken).map(({ path, fault }): Check => ({
    name: "personas",
    status: "warning",
    sentence: `${path} cannot be used: ${fault}.`,
  }));
  const usable = entries.length - broken.length;
  return [
    ...broken,
    { name: "personas", status: "ok", sentence: `${plural(usable, "persona")} to choose from.` },
  ];
}
