import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

import type { Effort } from "../core/model-settings.ts";
import { type ModelConfig, withKey } from "../rules/models/config.ts";
import { takesEffort } from "../rules/models/effort.ts";
import type { ModelFacts } from "../rules/models/facts.ts";
import { type Keyless, modelSettings } from "../rules/models/settings.ts";
import { makerOf } from "./messages/foreign-answers.ts";
import type { openModel } from "./models/open.ts";

/** A model that is open, with what an exchange has to know of it. */
export interface AnsweringModel {
  readonly model: BaseChatModel;
  readonly modelName: string;
  /** Maker of its answers: see `makerOf`. */
  readonly maker: string;
  readonly keyless: Keyless | null;
  /** Tokens that it reads at most. */
  readonly window: number;
  readonly facts: ModelFacts;
}

interface Opening {
  readonly name: string;
  readonly models: ModelConfig;
  /** Left out for a model that is known not to take it. */
  readonly effort: Effort | null;
  readonly open: typeof openModel;
}

/** Opens a model. Error codes: as `modelSettings`, `config_invalid`. */
export async function openAnswering(
  opening: Opening,
): Promise<{ readonly answering: AnsweringModel; readonly config: ModelConfig }> {
  const { name, models, open } = opening;
  const settings = modelSettings({ name, config: models });
  const { keyless, window, facts, provider } = settings;
  const config = await withKey(models, provider);
  const effort = takesEffort(opening.effort, name, facts) ? opening.effort : null;
  return {
    config,
    answering: {
      model: await open({ name, config, effort }),
      modelName: name,
      maker: makerOf(settings),
      keyless,
      window,
      facts,
    },
  };
}
