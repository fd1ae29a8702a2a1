import { afterEach, describe, expect, it, vi } from "vitest";

import { type ModelConfig, modelConfig } from "../../../src/rules/models/config.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { startFixedProvider } from "../../helpers/provider-server.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";

const TRAPS = {
  ANTHROPIC_API_KEY: "from-the-environment",
  ANTHROPIC_AUTH_TOKEN: "from-the-environment",
  ANTHROPIC_BASE_URL: "http://from-the-environment.invalid",
  LANGSMITH_GATEWAY: "http://from-the-environment.invalid",
  OPENAI_API_KEY: "from-the-environment",
  OPENAI_ADMIN_KEY: "from-the-environment",
  OPENAI_BASE_URL: "http://from-the-environment.invalid",
  OPENAI_ORGANIZATION: "from-the-environment",
  OPENAI_ORG_ID: "from-the-environment",
  OPENAI_PROJECT_ID: "from-the-environment",
  OLLAMA_BASE_URL: "http://from-the-environment.invalid",
};

afterEach(() => {
  vi.unstubAllEnvs();
});

function configFor(url: string, keys: Record<string, string> = {}): ModelConfig {
  const env = {
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    OLLAMA_HOST: url,
    ...keys,
  };
  return modelConfig(env);
}

describe("openModel", () => {
  it.each([
    ["openai:gpt-5.1", "openai"],
    ["anthropic:claude-sonnet-5", "anthropic"],
    ["ollama:llama3.2:3b", "ollama"],
  ] as const)("streams from %s, with usage reported", async (name, provider) => {
    await using server = await startProvider(provider, () => [
      text("Hi there, "),
      text("friend!"),
      { kind: "usage", input: 5, output: 4 },
    ]);
    const config = configFor(server.url, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" });
    const model = await openModel({ name, config });
    let [words, input, output, chunks] = ["", 0, 0, 0];
    for await (const chunk of await model.stream("hello")) {
      chunks += chunk.text === "" ? 0 : 1;
      words += chunk.text;
      input += chunk.usage_metadata?.input_tokens ?? 0;
      output += chunk.usage_metadata?.output_tokens ?? 0;
    }
    expect(words).toBe("Hi there, friend!");
    expect(chunks).toBe(2);
    expect([input, output]).toEqual([5, 4]);
    expect(server.refusals()).toEqual([]);
  });

  it.each(["openai:x", "anthropic:x", "ollama:x"])(
    "sends nothing from the environment that its configuration does not name: %s",
    async (name) => {
      for (const [variable, value] of Object.entries(TRAPS)) {
        vi.stubEnv(variable, value);
      }
      await using provider = await startFixedProvider({ status: 400, body: {} });
      const model = await openModel({ name, config: configFor(provider.url) });
      await expect(model.invoke("hello")).rejects.toThrow("400");

      expect(provider.requests).toHaveLength(1);
      expect(JSON.stringify(provider.requests)).not.toContain("from-the-environment");
    },
  );

  it("asks a chat-completions server for the usage of its stream, without a key", async () => {
    await using provider = await startFixedProvider({ status: 400, body: {} });
    const model = await openModel({ name: "openai:local", config: configFor(provider.url) });
    await expect(model.stream("hello")).rejects.toThrow("400");

    expect(provider.requests[0]?.path).toBe("/v1/chat/completions");
    expect(JSON.parse(provider.requests[0]?.body ?? "")).toMatchObject({
      model: "local",
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("asks Ollama for the context window that summaries assume", async () => {
    await using provider = await startFixedProvider({ status: 400, body: {} });
    const model = await openModel({ name: "ollama:x", config: configFor(provider.url) });
    await expect(model.invoke("hello")).rejects.toThrow("400");
    expect(JSON.parse(provider.requests[0]?.body ?? "")).toMatchObject({
      options: { num_ctx: 16_384 },
    });
  });

  it.each(["anthropic:x", "openai:x"])("requires a key for %s before any call", async (name) => {
    for (const [variable, value] of Object.entries(TRAPS)) {
      vi.stubEnv(variable, value);
    }
    await expect(openModel({ name, config: modelConfig({}) })).rejects.toMatchObject({
      code: "model_key_missing",
      message: expect.stringMatching(/_API_KEY/),
    });
  });

  it.each(["", "gpt-5", "openai:", "openai: ", "Openai:x", ":x"])(
    "refuses %j, which names no provider and model",
    async (name) => {
      await expect(openModel({ name, config: modelConfig({}) })).rejects.toMatchObject({
        code: "model_unknown",
        message: expect.stringContaining("provider:model"),
      });
    },
  );

  it.each(["nobody:x", "constructor:x", "toString:x"])(
    "refuses %s, whose provider is unknown, and lists those that are known",
    async (name) => {
      await expect(openModel({ name, config: modelConfig({}) })).rejects.toMatchObject({
        code: "model_unknown",
        message: expect.stringContaining(
          name === "toString:x" ? "provider:model" : "openai, ollama",
        ),
      });
    },
  );

  it.each(["localhost:80/v1", "not an address", "file:///etc/passwd"])(
    "refuses the address %j and names the variable",
    async (url) => {
      const config = modelConfig({ OPENAI_BASE_URL: url });
      await expect(openModel({ name: "openai:x", config })).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining("OPENAI_BASE_URL"),
      });
    },
  );
});
