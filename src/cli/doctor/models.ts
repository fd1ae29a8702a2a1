import type { ModelConfig } from "../../exchange/models/config.ts";
import { modelSettings } from "../../exchange/models/settings.ts";
import { isRepriseError } from "../../core/errors.ts";
import type { Check } from "../../store/verify/check.ts";
import type { CliContext } from "../context.ts";
import { checkReachable } from "./online.ts";

/**
 * The model of sessions that name none, and which providers have a key. Keys are never shown. With
 * `online` each configured provider is asked for its list of models, which costs nothing.
 */
export async function checkModels(cli: CliContext, online: boolean): Promise<Check[]> {
  const { defaultModel, modelConfig } = await import("../../exchange/models/config.ts");
  const config = modelConfig(cli.env);
  const name = defaultModel(config);
  const checks = [await checkDefault(name, config)];
  return online ? [...checks, ...(await checkReachable(config, name))] : checks;
}

async function checkDefault(name: string, config: ModelConfig): Promise<Check> {
  try {
    modelSettings({ name, config });
  } catch (error) {
    if (isRepriseError(error)) {
      return { name: "models", status: "failed", sentence: `The default model: ${error.message}` };
    }
    throw error;
  }
  const { isDemo } = await import("../../exchange/models/name.ts");
  const keys = [
    ...(config.anthropic.apiKey === null ? [] : ["ANTHROPIC_API_KEY"]),
    ...(config.openai.apiKey === null ? [] : ["OPENAI_API_KEY"]),
  ];
  const known = keys.length === 0 ? "no key is set" : `${keys.join(" and ")} set`;
  return {
    name: "models",
    status: "ok",
    sentence: isDemo(name)
      ? `Sessions that name no model talk to the offline demo (${known}); for a real one set ANTHROPIC_API_KEY or OPENAI_API_KEY, or REPRISE_MODEL.`
      : `Sessions that name no model use ${name} (${known}).`,
  };
}
