import {
  type Provider,
  type ProviderName,
  PROVIDERS,
  type ProviderOptions,
  startProvider,
} from "./providers/start.ts";
import type { Script } from "./providers/server.ts";
import { call, type Step, text } from "./providers/steps.ts";

export { call, type ProviderName, PROVIDERS, type Step, text };

export type ScriptedProvider = Provider;

/** A provider on loopback that sends what a script says, byte for byte in its own format. */
export function startScriptedProvider(
  name: ProviderName,
  script: Script,
  options: ProviderOptions = {},
): Promise<ScriptedProvider> {
  return startProvider(name, script, options);
}
