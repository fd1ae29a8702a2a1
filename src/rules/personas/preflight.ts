import { isRepriseError } from "../../core/errors.ts";
import type { Effort } from "../../core/model-settings.ts";
import type { NewSession } from "../../store/records/sessions/create.ts";
import type { FolderSettings, Settings } from "../config/settings.ts";
import { requireModel, checkPrice } from "../models/check-model.ts";
import { chosenModel } from "../models/choose.ts";
import { chosenSettings } from "../models/effort.ts";
import { modelFacts } from "../models/facts.ts";
import type { PersonaFolders } from "./folders.ts";
import { DEFAULT_PERSONA, type Persona } from "./persona.ts";

/** The persona that an exchange would load. Error codes: as `loadPersona`. */
export async function checkPersona(
  personas: PersonaFolders,
  { name, repo_path }: { readonly name: string; readonly repo_path: string | null },
): Promise<Persona> {
  const { loadPersona } = await import("./load.ts");
  return loadPersona({ name, repoPath: repo_path, ...personas });
}

/** Names the persona and the model that answer in a session. */
export interface Answering {
  readonly persona_name: string | null;
  readonly model: string | null;
  readonly repo_path: string | null;
}

/** With what else a model may be refused for. */
interface NewAnswering extends Answering {
  readonly effort: Effort | null;
  readonly isPriceLimited: boolean;
}

/** Names the persona and the model of a session that is made of these columns. */
export function answeringIn(columns: NewSession): NewAnswering {
  const { persona_name = null, model = null, repo_path = null, effort = null } = columns;
  const isPriceLimited = columns.price_limits !== undefined;
  return { persona_name, model, repo_path, effort, isPriceLimited };
}

/**
 * Refuses a session that could not answer its first message, before anything is stored for its
 * sake. Nothing is sent. Error codes: as `loadPersona` and `requireModel`.
 */
export async function checkNewSession(
  {
    settings,
    personas,
  }: {
    readonly settings: Pick<FolderSettings, "models" | "effort">;
    readonly personas: PersonaFolders;
  },
  session: NewAnswering,
): Promise<void> {
  const { persona_name, model, repo_path, effort, isPriceLimited } = session;
  const name = persona_name ?? DEFAULT_PERSONA;
  const persona = await checkPersona(personas, { name, repo_path });
  const others = { cache: null, fallback: null };
  const chosen = chosenSettings({
    session: { effort, ...others },
    persona,
    config: { effort: settings.effort, ...others },
  });
  requireModel(
    {
      name: chosenModel({ session: model, persona, config: settings.models }),
      effort: chosen.effort,
      isPriceLimited,
    },
    settings.models,
  );
}

/** Refuses a session with a limit of its price. Error codes: `price_unknown`, `model_unknown` for an invalid name. */
export type PriceCheck = (session: Answering) => Promise<void>;

/**
 * Makes a check of the model that would answer. A persona that cannot be used refuses nothing here: the exchange says
 * what is wrong with it.
 */
export function createPriceCheck(user: {
  readonly settings: Settings;
  readonly personas: PersonaFolders;
}): PriceCheck {
  return async ({ model, persona_name, repo_path }) => {
    const { models } = await user.settings.at(repo_path);
    const name =
      model ??
      (await checkPersona(user.personas, { name: persona_name ?? DEFAULT_PERSONA, repo_path }).then(
        (persona) => chosenModel({ session: null, persona, config: models }),
        (error: unknown) => {
          if (!isRepriseError(error)) {
            throw error;
          }
          return null;
        },
      ));
    if (name !== null) {
      checkPrice(true, name, modelFacts(name, models));
    }
  };
}
