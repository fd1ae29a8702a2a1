import { PERMISSION_MODES } from "../../../core/permissions.ts";
import type { ModelInfo } from "../../../core/schemas/service-schemas.ts";
import { modeMeaning } from "../../../core/text/words.ts";
import { isBroken } from "../../../rules/personas/persona.ts";
import { modelFactTexts } from "../../output/model-facts.ts";
import { personaFolderPaths, settingsOf } from "../../process/config.ts";
import { SETTING_WORDS } from "../../process/model-settings.ts";
import { WHEN_RESET } from "./continue.ts";
import { EVERY_RULE } from "./slash-permission.ts";
import type { Talk } from "../talk.ts";

/** Shows what all exchanges of a session changed. */
export const WHOLE_SESSION = "all";

export interface ValuesContext {
  readonly cli: Talk["cli"];
  readonly conversation: Pick<Talk["conversation"], "planned">;
}

/** Value that a command may be given. */
export interface SlashValue {
  readonly value: string;
  /** Line of help; it may come from a repository. */
  readonly help?: string;
}

/** By the names of commands. Each is read once, when it is first asked for. */
export type SlashValues = Readonly<Record<string, () => Promise<readonly SlashValue[]>>>;

/** Models that the configuration and personas name, the personas of the session's folder, and modes. */
export function slashValues({ cli, conversation }: ValuesContext): SlashValues {
  const personas = () => readPersonas({ cli, conversation });
  const models = async () => {
    const now = new Date();
    return (await readModels({ cli, conversation })).map((info) => ({
      value: info.name,
      help: modelFactTexts(info, now).join(" · "),
    }));
  };
  return {
    model: models,
    switch: models,
    agent: async () =>
      (await personas()).flatMap((persona) =>
        isBroken(persona) ? [] : [{ value: persona.name, help: persona.description }],
      ),
    permission: async () => [
      ...PERMISSION_MODES.map((value) => ({ value, help: modeMeaning(value) })),
      { value: EVERY_RULE, help: "list every rule" },
    ],
    effort: async () => SETTING_WORDS.effort.map((value) => ({ value })),
    cache: async () => SETTING_WORDS.cache.map((value) => ({ value })),
    fallback: async () => SETTING_WORDS.fallback.map((value) => ({ value })),
    continue: async () => [{ value: WHEN_RESET, help: "wait for the end of a limit first" }],
    diff: async () => [{ value: WHOLE_SESSION, help: "all exchanges of the session" }],
    plan: async () => ["on", "off"].map((value) => ({ value })),
  };
}

async function readPersonas({ cli, conversation }: ValuesContext) {
  const { listPersonas } = await import("../../../rules/personas/list.ts");
  const repoPath = conversation.planned().repo_path;
  return listPersonas({ ...personaFolderPaths(cli), repoPath });
}

/** Models that the configuration and the personas of the session's folder name. */
export async function readModels(context: ValuesContext): Promise<readonly ModelInfo[]> {
  const { listModels } = await import("../../../rules/models/list.ts");
  const repoPath = context.conversation.planned().repo_path;
  const { models } = await settingsOf(context.cli).at(repoPath);
  return listModels(models, await readPersonas(context));
}
