/** How a provider's API is spoken: Chat Completions or Responses of OpenAI, Messages of Anthropic, or that of Ollama. */
export const APIS = ["chat", "responses", "anthropic"] as const;
export type Api = (typeof APIS)[number] | "ollama" | "google" | "bedrock" | "demo";

/** What a compatible API does otherwise than OpenAI's. */
export interface Quirks {
  /** It refuses a history without the `reasoning_content` that it sent. */
  readonly passes_reasoning_back?: true;
  /** It refuses a history without the `reasoning_details` that it sent, for some of its models. */
  readonly keeps_reasoning_details?: true;
  /** It signs calls (`extra_content`), and refuses those of the latest exchange that come back without. */
  readonly signs_calls?: true;
  /** It refuses `stream_options`; `never` asks for no usage. */
  readonly usage?: "never";
}

/** A provider that comes with Reprise. */
export interface ProviderData {
  /** For a sentence to a person. */
  readonly label: string;
  readonly api: Api;
  /** At an address that is not the provider's own, if it is another one. */
  readonly apiElsewhere?: Api;
  /** Null for one that each account has its own of. */
  readonly address: string | null;
  /** Holds the key; null if there is none. */
  readonly keyVariable: string | null;
  /** Whether it answers without a key. */
  readonly isKeyless?: true;
  /** Hold the address; the first that is set counts. */
  readonly addressVariables?: readonly string[];
  readonly quirks?: Quirks;
  /** The package that speaks its API, which a user installs beside Reprise. */
  readonly package?: string;
  /** Hold what the package finds by itself, and are concealed. */
  readonly secretVariables?: readonly string[];
  /** The provider whose models the table has, if it is another one. */
  readonly table?: string;
  /** The documentation from which the rest is; null for those that the tests run against. */
  readonly source: string | null;
}

/**
 * The providers that come with Reprise. Those with a `source` are made from their documentation, read in November
 * 2026; nothing was run against them.
 */
export const PROVIDERS = {
  anthropic: {
    label: "Anthropic",
    api: "anthropic",
    address: "https://api.anthropic.com",
    keyVariable: "ANTHROPIC_API_KEY",
    addressVariables: ["ANTHROPIC_BASE_URL"],
    source: null,
  },
  openai: {
    label: "the OpenAI service",
    api: "responses",
    apiElsewhere: "chat",
    address: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    addressVariables: ["OPENAI_BASE_URL"],
    source: null,
  },
  ollama: {
    label: "Ollama",
    api: "ollama",
    address: "http://127.0.0.1:11434",
    keyVariable: null,
    isKeyless: true,
    addressVariables: ["OLLAMA_BASE_URL", "OLLAMA_HOST"],
    source: null,
  },
  demo: {
    label: "the demo model",
    api: "demo",
    address: "",
    keyVariable: null,
    isKeyless: true,
    source: null,
  },
  azure: {
    label: "Azure OpenAI",
    api: "responses",
    address: null,
    keyVariable: "AZURE_OPENAI_API_KEY",
    addressVariables: ["AZURE_OPENAI_BASE_URL"],
    source: "https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle",
  },
  bedrock: {
    label: "Amazon Bedrock",
    api: "bedrock",
    address: null,
    keyVariable: null,
    isKeyless: true,
    package: "@langchain/aws",
    secretVariables: ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"],
    source: "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html",
  },
  deepseek: {
    label: "DeepSeek",
    api: "chat",
    address: "https://api.deepseek.com",
    keyVariable: "DEEPSEEK_API_KEY",
    quirks: { passes_reasoning_back: true },
    source: "https://api-docs.deepseek.com/guides/thinking_mode",
  },
  fireworks: {
    label: "Fireworks",
    api: "chat",
    address: "https://api.fireworks.ai/inference/v1",
    keyVariable: "FIREWORKS_API_KEY",
    source: "https://docs.fireworks.ai/tools-sdks/openai-compatibility",
  },
  gemini: {
    label: "Gemini",
    api: "chat",
    address: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyVariable: "GEMINI_API_KEY",
    quirks: { signs_calls: true },
    source: "https://ai.google.dev/gemini-api/docs/openai",
  },
  google: {
    label: "Google's Gemini API",
    api: "google",
    address: "https://generativelanguage.googleapis.com",
    keyVariable: "GOOGLE_API_KEY",
    package: "@langchain/google",
    table: "gemini",
    source: "https://ai.google.dev/gemini-api/docs/thought-signatures",
  },
  groq: {
    label: "Groq",
    api: "chat",
    address: "https://api.groq.com/openai/v1",
    keyVariable: "GROQ_API_KEY",
    source: "https://console.groq.com/docs/openai",
  },
  llamacpp: {
    label: "llama.cpp",
    api: "chat",
    address: "http://127.0.0.1:8080/v1",
    keyVariable: "LLAMACPP_API_KEY",
    isKeyless: true,
    addressVariables: ["LLAMACPP_BASE_URL"],
    source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
  },
  lmstudio: {
    label: "LM Studio",
    api: "chat",
    address: "http://127.0.0.1:1234/v1",
    keyVariable: "LMSTUDIO_API_KEY",
    isKeyless: true,
    addressVariables: ["LMSTUDIO_BASE_URL"],
    source: "https://lmstudio.ai/docs/developer/openai-compat",
  },
  mistral: {
    label: "Mistral",
    api: "chat",
    address: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
    // refuses every field that it does not know; it sends the usage without being asked
    quirks: { usage: "never" },
    source: "https://docs.mistral.ai/api",
  },
  moonshot: {
    label: "Moonshot",
    api: "chat",
    address: "https://api.moonshot.ai/v1",
    keyVariable: "MOONSHOT_API_KEY",
    quirks: { passes_reasoning_back: true },
    source: "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model",
  },
  openrouter: {
    label: "OpenRouter",
    api: "chat",
    address: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    quirks: { keeps_reasoning_details: true },
    source: "https://openrouter.ai/docs/guides/best-practices/reasoning-tokens",
  },
  together: {
    label: "Together",
    api: "chat",
    address: "https://api.together.ai/v1",
    keyVariable: "TOGETHER_API_KEY",
    source: "https://docs.together.ai/docs/openai-api-compatibility",
  },
  vertex: {
    label: "Vertex AI",
    api: "google",
    address: null,
    keyVariable: null,
    isKeyless: true,
    package: "@langchain/google",
    table: "gemini",
    source: "https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures",
  },
  vllm: {
    label: "vLLM",
    api: "chat",
    address: "http://127.0.0.1:8000/v1",
    keyVariable: "VLLM_API_KEY",
    isKeyless: true,
    addressVariables: ["VLLM_BASE_URL"],
    source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
  },
  xai: {
    label: "xAI",
    api: "chat",
    address: "https://api.x.ai/v1",
    keyVariable: "XAI_API_KEY",
    source: "https://docs.x.ai/docs/api-reference",
  },
  zai: {
    label: "Z.ai",
    api: "chat",
    address: "https://api.z.ai/api/paas/v4",
    keyVariable: "ZAI_API_KEY",
    source: "https://docs.z.ai/guides/develop/openai/python",
  },
} as const satisfies Readonly<Record<string, ProviderData>>;

/** Returns undefined for a provider of the user's config. */
export function builtInProvider(name: string): ProviderData | undefined {
  const all: Readonly<Record<string, ProviderData>> = PROVIDERS;
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Its name in a sentence for a person. */
export function providerLabel(name: string): string {
  return builtInProvider(name)?.label ?? `the provider ${name}`;
}

/** Returns a sentence that begins with such a name. A name keeps its spelling, such as vLLM and xAI. */
export function withCapital(sentence: string): string {
  return sentence.replace(/^the /, "The ");
}
