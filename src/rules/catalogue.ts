import type { ModelInfo, PersonaInfo } from "../core/schemas/service-schemas.ts";
import type { Check } from "../store/check.ts";
import type { Settings } from "./config/settings.ts";
import type { ModelConfig } from "./models/config.ts";
import type { PersonaFolders } from "./personas/folders.ts";
import type { PriceCheck } from "./personas/preflight.ts";

/** Names that new sessions of this user can have, and whether each can be used. */
export interface Catalogue {
  /** Lists personas; those of the folder only if the user trusts it. */
  personas(repo_path: string | null): Promise<PersonaInfo[]>;
  /** The default one first. Any other `provider:model` may be named, too. No provider is asked. */
  models(): Promise<ModelInfo[]>;
  /** The same with the models that the providers list now. */
  askedModels(): Promise<ModelInfo[]>;
  checks(): Promise<readonly Check[]>;
  /** Returns the source of the personas and models that sessions of a folder have. */
  sourceOf(repo_path: string): Promise<{
    readonly personas: PersonaFolders;
    readonly models: ModelConfig;
  }>;
  readonly checkPrice: PriceCheck;
}

/** Everything is loaded when it is asked for: a service starts without it. */
export function createCatalogue(user: {
  readonly personas: PersonaFolders;
  readonly settings: Settings;
  /** Keeps the lists of providers; null if nothing does. */
  readonly modelLists: string | null;
}): Catalogue {
  const survey = async (repo_path: string | null) => {
    const [{ surveyPersonas }, { isTrusted }] = await Promise.all([
      import("./personas/list.ts"),
      import("./trust/trust.ts"),
    ]);
    // a client may name any folder: files of one that is not trusted are not even opened
    const isUsed = repo_path !== null && (await isTrusted(user.personas.trust, repo_path));
    return surveyPersonas({ ...user.personas, repoPath: isUsed ? repo_path : null });
  };
  const config = async () => (await user.settings.at(null)).models;
  const models = async (): Promise<ModelInfo[]> => {
    const [{ listModels }, { entries }] = await Promise.all([
      import("./models/list.ts"),
      survey(null),
    ]);
    return listModels(await config(), entries);
  };
  return {
    personas: async (repo_path) => {
      const { entries } = await survey(repo_path);
      return entries.map((entry) =>
        "fault" in entry
          ? { ...named(entry), description: "", model: null, tools: null, fault: entry.fault }
          : { ...named(entry), ...contentOf(entry), fault: null },
      );
    },
    models,
    sourceOf: async (repo_path) => ({
      personas: user.personas,
      models: (await user.settings.at(repo_path)).models,
    }),
    askedModels: async () => {
      const [{ offeredModels }, { configuredProviders }, { defaultModel }] = await Promise.all([
        import("./models/offered.ts"),
        import("./models/list-request.ts"),
        import("./models/config.ts"),
      ]);
      const found = await config();
      const offered = await offeredModels({
        config: found,
        providers: configuredProviders(found, defaultModel(found)),
        file: user.modelLists,
        refresh: true,
      });
      const named = await models();
      const names = new Set(named.map(({ name }) => name));
      return [...named, ...offered.models.filter(({ name }) => !names.has(name))];
    },
    checkPrice: async (session) => {
      const { createPriceCheck } = await import("./personas/preflight.ts");
      await createPriceCheck(user)(session);
    },
    checks: async () => {
      const { personaChecks, modelCheck } = await import("./checks.ts");
      return [...personaChecks(await survey(null)), modelCheck(await config())];
    },
  };
}

function named<T>({ name, source }: { readonly name: string; readonly source: T }) {
  return { name, source };
}

function contentOf({
  description,
  model,
  tools,
}: {
  readonly description: string;
  readonly model: string | null;
  readonly tools: readonly string[] | null;
}) {
  return { description, model, tools: tools === null ? null : [...tools] };
}
