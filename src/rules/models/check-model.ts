import { oneLine } from "../../core/text/terminal-text.ts";
import { priceUnknown } from "../../core/cost/limits.ts";
import type { Effort } from "../../core/model-settings.ts";
import type { ModelConfig } from "./config.ts";
import { checkEffort } from "./effort.ts";
import type { ModelFacts } from "./facts.ts";
import { requirePackage } from "./optional-package.ts";
import { modelSettings } from "./settings.ts";

/** A model as an exchange would ask it. */
export interface WantedModel {
  readonly name: string;
  readonly effort: Effort | null;
  readonly isPriceLimited: boolean;
}

/**
 * Refuses a model that an exchange would be refused for. Nothing is sent, and no key is read.
 *
 * Error codes: as `modelSettings`; `effort_unknown`, `price_unknown`, `package_missing`.
 */
export function requireModel(
  { name, effort, isPriceLimited }: WantedModel,
  config: ModelConfig,
): void {
  const settings = modelSettings({ name, config });
  checkEffort(effort, name, settings.facts);
  checkPrice(isPriceLimited, name, settings.facts);
  requirePackage(settings);
}

/** Error codes: `price_unknown` if there is a limit of the price. */
export function checkPrice(
  isPriceLimited: boolean,
  name: string,
  { price }: Pick<ModelFacts, "price">,
): void {
  if (isPriceLimited && price === null) {
    throw priceUnknown(oneLine(name));
  }
}
