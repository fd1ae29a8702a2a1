import { tokensIn } from "../rules.ts";
import type { InputUsage, Usage } from "../server.ts";
import { type Step, stepOf } from "../steps.ts";

/** What an answer consists of. */
interface Written {
  readonly text: string;
  readonly reasoning: string;
}

/** Tokens of a request and its answer: those that the script names, or those that the mock counts. */
export function usageOf(steps: readonly Step[], input: InputUsage, written: Written): Usage {
  const given = stepOf(steps, "usage");
  const reasoning = tokensIn(written.reasoning);
  return given === undefined
    ? { ...input, output: tokensIn(written.text) + reasoning, reasoning }
    : { ...input, input: given.input, cacheRead: 0, output: given.output, reasoning: 0 };
}
