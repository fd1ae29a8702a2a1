import { onTestFinished } from "vitest";

import type { AgentOptions } from "../../../src/agent/exchange-context.ts";
import { openBench } from "../../helpers/exchanger.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { type ProviderOptions, startProvider } from "../../helpers/providers/start.ts";

/** Opens an agent of a model of Anthropic; without a name, one that binds its reasoning to all that came before. */
export async function openBound(
  script: Script,
  { model = "claude-opus-5-5", ...options }: ProviderOptions & { readonly model?: string } = {},
  changed: Partial<AgentOptions> = {},
) {
  const provider = await startProvider("anthropic", script, options);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const bench = await openBench(
    { env: () => ({ ...provider.env }) },
    { REPRISE_MODEL: `anthropic:${model}`, REPRISE_CONTEXT_TOKENS: "1000000" },
    changed,
  );
  return { ...bench, provider };
}
