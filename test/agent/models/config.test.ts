import { describe, expect, it } from "vitest";

import { defaultModel, modelConfig } from "../../../src/rules/models/config.ts";
import { isDemo } from "../../../src/rules/models/name.ts";

describe("the default model", () => {
  it.each([
    [{}, "demo:echo"],
    [{ ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "" }, "demo:echo"],
    [{ OPENAI_API_KEY: "k" }, "openai:gpt-6.1-sol"],
    [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "anthropic:claude-sonnet-5-5"],
    [{ OPENAI_API_KEY: "k", REPRISE_MODEL: "ollama:x" }, "ollama:x"],
    [{ OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }, "demo:echo"],
  ])("with %j is %s", (env, name) => {
    expect(defaultModel(modelConfig(env))).toBe(name);
  });
});

describe("modelConfig", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:11434"],
    ["0.0.0.0:9000", "http://127.0.0.1:9000"],
    ["http://box.local", "http://box.local"],
    ["https://ollama.example/under", "https://ollama.example/under"],
  ])("reads OLLAMA_HOST=%s as %s", (host, url) => {
    expect(modelConfig({ OLLAMA_HOST: host }).providers["ollama"]?.baseUrl).toBe(url);
  });

  it("prefers OLLAMA_BASE_URL", () => {
    const env = { OLLAMA_HOST: "a", OLLAMA_BASE_URL: "http://b" };
    expect(modelConfig(env).providers["ollama"]?.baseUrl).toBe("http://b");
  });
});

describe("isDemo", () => {
  it.each([
    ["demo", true],
    ["demo:echo", true],
    ["demonstration:x", false],
    ["openai:demo", false],
  ])("of %s is %s", (name, demo) => {
    expect(isDemo(name)).toBe(demo);
  });
});
