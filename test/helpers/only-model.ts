import { ModelLine } from "../../src/agent/model-line.ts";
import { modelConfig } from "../../src/rules/models/config.ts";
import { modelFacts } from "../../src/rules/models/facts.ts";
import type { AnsweringModel } from "../../src/agent/answering-model.ts";

/** The models of an exchange that has this one alone. */
export function onlyModel(model: AnsweringModel["model"]): ModelLine {
  const modelName = "openai:gpt-test";
  const facts = modelFacts(modelName, modelConfig({}));
  const { context: window } = facts;
  return new ModelLine({
    first: { model, modelName, maker: "openai/chat", keyless: null, window, facts },
  });
}
