import { HumanMessage } from "@langchain/core/messages";

import { createScrub } from "../../core/text/scrub.ts";
import { modelSettings } from "../../rules/models/settings.ts";
import type { ModelTrial } from "../../rules/models/trial.ts";
import { modelFailure } from "./failure.ts";
import { openModel } from "./open.ts";

/**
 * Sends a model one short message, once, and resolves if it answers.
 *
 * Error codes: `model_*`, `config_invalid`.
 */
export async function tryModel({ name, config, secrets, signal }: ModelTrial): Promise<void> {
  const { keyless } = modelSettings({ name, config });
  const model = await openModel({ name, config });
  const sent = [new HumanMessage("ping")];
  try {
    await model.invoke(sent, { signal });
  } catch (error) {
    throw modelFailure(error, name, keyless, { scrub: createScrub(secrets), sent });
  }
}
