import { describe, expect, it } from "vitest";

import { DEFAULT_MODELS, modelConfig } from "../../../src/rules/models/config.ts";
import { modelCheck } from "../../../src/rules/checks.ts";
import { modelFacts } from "../../../src/rules/models/facts.ts";
import { endSentence, endsSoon, WARNED_DAYS } from "../../../src/rules/models/retirement.ts";
import { modelTable } from "../../../src/rules/models/table.ts";

const today = new Date();

describe("the end of a model", () => {
  it("[MODEL-4] is warned of from 90 days before its last day", () => {
    const day = "2026-12-11";
    expect(endSentence("m", day, new Date("2026-09-11T00:00:00Z"))).toBeNull();
    expect(endSentence("m", day, new Date("2026-09-12T00:00:00Z"))).toContain(
      "will be shut down after 11 Dec 2026",
    );
    expect(endSentence("m", day, new Date("2026-12-11T23:59:59Z"))).toContain("will be");
    expect(endSentence("m", day, new Date("2026-12-12T00:00:00Z"))).toContain("was shut down");
    expect(endSentence("m", null, today)).toBeNull();
  });

  it("[MODEL-4] is a warning of doctor if it is that of the default model", () => {
    const [name = "", ends = ""] = Object.entries(modelTable().ends)[0] ?? [];
    expect(endsSoon(ends, today)).toBe(true);
    const config = modelConfig({ REPRISE_MODEL: name, ANTHROPIC_API_KEY: "k" });
    expect(modelCheck(config)).toMatchObject({
      status: "warning",
      sentence: expect.stringContaining("was shut down"),
    });
    expect(modelCheck(modelConfig({ ANTHROPIC_API_KEY: "k" })).status).toBe("ok");
  });
});

it.each(DEFAULT_MODELS)(
  `[MODEL-5] the default model $provider:$model is in the table and ends more than ${WARNED_DAYS} days after ${today.toISOString().slice(0, 10)}`,
  ({ provider, model }) => {
    expect(Object.keys(modelTable().models[provider] ?? {})).toContain(model);
    const { ends } = modelFacts(`${provider}:${model}`, modelConfig({}));
    expect(ends === null || !endsSoon(ends, today), `it ends on ${ends}`).toBe(true);
  },
);
