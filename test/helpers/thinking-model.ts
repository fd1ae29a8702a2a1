import { setTimeout as sleep } from "node:timers/promises";

import { onTestFinished } from "vitest";

import { type Provider, startProvider } from "./providers/start.ts";
import { reasoning, type Step, text } from "./providers/steps.ts";

/** Milliseconds between pieces of thinking: 12 s together. */
const GAPS = [1500, 200, 1500, 1500, 50, 1250, 1500, 1500, 1500, 1500];

/** Claude that thinks for 12 s, in pieces with up to 1.5 s between them, and then answers. */
export async function startThinkingModel(): Promise<Provider> {
  const thinking = GAPS.flatMap((gap, at): Step[] => [
    reasoning(`thought ${at}. `),
    { kind: "wait", until: () => sleep(gap) },
  ]);
  const provider = await startProvider("anthropic", () => [...thinking, text("The answer.")]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return Object.assign(provider, {
    env: { ...provider.env, REPRISE_MODEL: "anthropic:claude-sonnet-5-5" },
  });
}
