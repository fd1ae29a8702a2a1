import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, it } from "vitest";

import { defaultModel, modelConfig } from "../../../src/rules/models/config.ts";
import { contextWindow } from "../../../src/rules/models/context-window.ts";
import { isDemo } from "../../../src/rules/models/name.ts";

describe("the default model", () => {
  it.each([
    [{}, "demo:echo"],
    [{ ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "" }, "demo:echo"],
    [{ OPENAI_API_KEY: "k" }, "openai:gpt-5.1"],
    [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "anthropic:claude-sonnet-5"],
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
    expect(modelConfig({ OLLAMA_HOST: host }).ollama.baseUrl).toBe(url);
  });

  it("prefers OLLAMA_BASE_URL", () => {
    const env = { OLLAMA_HOST: "a", OLLAMA_BASE_URL: "http://b" };
    expect(modelConfig(env).ollama.baseUrl).toBe("http://b");
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

describe("contextWindow", () => {
  it.each([
    "claude-sonnet-5",
    "claude-sonnet-4-5",
    "claude-opus-4-1",
    "claude-haiku-4-5",
    "claude-opus-5",
  ])("never claims a larger window for %s than its client does", (model) => {
    const profile = new ChatAnthropic({ model, apiKey: "k" }).profile;
    expect(contextWindow(`anthropic:${model}`)).toBeGreaterThan(100_000);
    expect(contextWindow(`anthropic:${model}`)).toBeLessThanOrEqual(profile.maxInputTokens ?? 0);
  });

  it.each(
    "gpt-5.5 gpt-5.4 gpt-5.4-pro gpt-5.3-codex-spark gpt-5.2-chat-latest gpt-5.1 gpt-5.1-chat-latest gpt-5 gpt-5-mini gpt-4.1-nano gpt-4o-mini gpt-4-turbo gpt-4 gpt-3.5-turbo o1 o1-mini o3-mini o4-mini".split(
      " ",
    ),
  )("never claims a larger window for %s than its client does", (model) => {
    const profile = new ChatOpenAI({ model, apiKey: "k" }).profile;
    expect(contextWindow(`openai:${model}`)).toBeGreaterThan(8_000);
    expect(contextWindow(`openai:${model}`)).toBeLessThanOrEqual(profile.maxInputTokens ?? 1e9);
  });

  it("assumes a small window for unknown models, and refuses an invalid name", () => {
    expect(contextWindow("openai:some-local-thing")).toBe(32_768);
    expect(contextWindow("demo")).toBe(1_000_000);
    expect(() => contextWindow("nothing")).toThrow(/provider:model/);
  });
});
