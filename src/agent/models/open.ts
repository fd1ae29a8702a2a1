import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

import type { Effort } from "../../core/model-settings.ts";
import { isLevelled } from "../../rules/models/effort.ts";
import type { ModelConfig } from "../../rules/models/config.ts";
import { thinksAdaptively } from "../../rules/models/claude-thinking.ts";
import { type ModelSettings, modelSettings } from "../../rules/models/settings.ts";
import { withWholeLines } from "./json-lines.ts";
import { receiveStreams } from "./receive-stream.ts";

/**
 * The chat model of `provider:model`, loading only that provider's client. Nothing is sent yet.
 * It streams when it is streamed. The clients' own `streaming` option stays off: with it, openai's
 * client downloads a tokenizer from the network after every answer. Nothing is repeated: that is
 * for `createCallModel`.
 *
 * Keys, addresses and accounts come from `config` alone: what the clients would read from the
 * environment is set explicitly. Error codes: as `modelSettings`.
 */
export async function openModel(input: {
  readonly name: string;
  readonly config: ModelConfig;
  /** How much it reasons; the model's default without it. */
  readonly effort?: Effort | null;
}): Promise<BaseChatModel> {
  const { config, effort = null } = input;
  const opening = { ...modelSettings(input), config, effort };
  switch (opening.api) {
    case "anthropic":
      return openAnthropic(opening);
    case "chat":
    case "responses":
      return openOpenAi(opening);
    case "ollama":
      return openOllama(opening);
    case "google":
    case "bedrock": {
      const { packagedClient } = await import("./packaged-client.ts");
      const { api, config } = opening;
      return packagedClient({ ...opening, api, limits: config.idle });
    }
    case "demo": {
      const { DemoModel } = await import("./demo.ts");
      return new DemoModel({});
    }
  }
}

/** Another host would get the key: `fetch` takes only `authorization` out of a request that it repeats there. */
const NO_REDIRECTS = { redirect: "error" } as const;

interface Opening extends ModelSettings {
  readonly config: ModelConfig;
  readonly effort: Effort | null;
}

async function openAnthropic(opening: Opening): Promise<BaseChatModel> {
  const { model, apiKey, baseUrl, headers, config } = opening;
  const { AnthropicClient } = await import("./anthropic-client.ts");
  const fields = {
    model,
    apiKey,
    anthropicApiUrl: baseUrl,
    streamUsage: true,
    maxRetries: 0,
    clientOptions: {
      authToken: null,
      logLevel: "off",
      timeout: config.timeoutMs,
      defaultHeaders: headers,
      fetchOptions: NO_REDIRECTS,
    } as const,
    ...(thinksAdaptively(model) ? thinking(opening) : {}),
  };
  return receiveStreams(new AnthropicClient(fields), { api: "anthropic", limits: config.idle });
}

/**
 * Asks for a summary of what the model thinks, which is left out otherwise. Thinking counts as output, of which
 * LangChain asks for 4,096 tokens from a model that it does not know.
 */
function thinking({ facts: { output }, effort }: Opening) {
  const adaptive = { type: "adaptive", display: "summarized" } as const;
  return {
    thinking: effort === "off" ? ({ type: "disabled" } as const) : adaptive,
    ...(effort === null || effort === "off" ? {} : { outputConfig: { effort } }),
    ...(output === null ? {} : { maxTokens: output }),
  };
}

async function openOpenAi(opening: Opening): Promise<BaseChatModel> {
  const { model, apiKey, baseUrl, headers, config } = opening;
  const fields = {
    model,
    apiKey,
    streamUsage: opening.quirks.usage !== "never",
    maxRetries: 0,
    timeout: config.timeoutMs,
    configuration: {
      baseURL: baseUrl,
      organization: null,
      project: null,
      adminAPIKey: null,
      logLevel: "off",
      defaultHeaders: headers,
      fetchOptions: NO_REDIRECTS,
    },
  } as const;
  const effort = opening.effort === "off" ? "none" : opening.effort;
  if (opening.api === "responses") {
    const { responsesClient } = await import("./openai-responses.ts");
    return responsesClient(fields, { limits: config.idle, effort });
  }
  const { chatClient } = await import("./openai-client.ts");
  const asked = effort === null ? {} : { modelKwargs: { reasoning_effort: effort } };
  return chatClient({ ...fields, ...asked }, config.idle, opening.quirks);
}

async function openOllama(opening: Opening): Promise<BaseChatModel> {
  const { model, baseUrl, headers, config, window, effort } = opening;
  const { ChatOllama } = await import("@langchain/ollama");
  const client = new ChatOllama({
    model,
    baseUrl,
    headers,
    fetch: async (input, init) => withWholeLines(await fetch(input, { ...init, ...NO_REDIRECTS })),
    numCtx: window,
    maxRetries: 0,
    ...(effort === null ? {} : { think: effort !== "off" }),
  });
  if (effort !== null && isLevelled(model)) {
    // LangChain's type knows no level
    Object.assign(client, { think: effort });
  }
  const onAbort = () => client.client.abort();
  return receiveStreams(client, { api: "ollama", limits: config.idle, onAbort });
}
