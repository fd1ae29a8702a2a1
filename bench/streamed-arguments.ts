import { exchangeCost } from "../test/helpers/exchange-cost.ts";
import type { Bench } from "./measurement.ts";

/** A tool call's arguments in pieces of 4 characters, as providers stream them. */
export const bench: Bench = {
  about: "processor time for a text that is streamed as a tool call's arguments, and as an answer",
  run: async ({ scale }) => {
    const characters = Math.round(50_000 * scale) * 4;
    const input = { provider: "openai", characters, sampleHeap: false } as const;
    const answer = await exchangeCost({ ...input, as: "answer" });
    const call = await exchangeCost({ ...input, as: "call" });
    return [
      {
        what: `${characters} characters of arguments, held against the same text as an answer`,
        unit: "ms",
        ours: call.cpuMs,
        floor: answer.cpuMs,
        reach: { at_most: 3 },
      },
    ];
  },
};
