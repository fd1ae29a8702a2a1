import type { Check } from "../../store/verify/check.ts";
import { personaFolderPaths } from "../config.ts";
import type { CliContext } from "../context.ts";
import { plural } from "../plural.ts";

/** The personas that a session in this folder could choose, and the files that cannot be used. */
export async function checkPersonas(cli: CliContext): Promise<Check[]> {
  const [{ surveyPersonas }, { isBroken }] = await Promise.all([
    import("../../exchange/personas/list.ts"),
    import("../../exchange/personas/persona.ts"),
  ]);
  const { entries, withheld } = await surveyPersonas({
    ...personaFolderPaths(cli),
    repoPath: cli.cwd,
  });
  const broken = entries.filter(isBroken).map(({ path, fault }): Check => ({
    name: "personas",
    status: "warning",
    sentence: `${path} cannot be used: ${fault}.`,
  }));
  const notes = entries.flatMap((entry) =>
    isBroken(entry) ? [] : entry.notes.map((note) => ok(`${entry.path}: ${note}.`)),
  );
  const usable = entries.length - broken.length;
  return [
    ...broken,
    ...notes,
    ...(withheld.length === 0 ? [] : [notTrusted(withheld.length)]),
    ok(`${plural(usable, "persona")} to choose from.`),
  ];
}

function notTrusted(count: number): Check {
  const what = count === 1 ? "1 persona of it is" : `${count} personas of it are`;
  return ok(`This folder is not trusted, so ${what} not used; \`reprise trust add\` trusts it.`);
}

function ok(sentence: string): Check {
  return { name: "personas", status: "ok", sentence };
}
