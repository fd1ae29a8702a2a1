import { LLMock } from "@copilotkit/aimock";
import { onTestFinished } from "vitest";

/** What the mock model answers to one request. */
export interface ModelAnswer {
  /** The provider's id of the answer; another one each time if it is not given. */
  readonly id?: string;
  readonly content?: string;
  readonly toolCalls?: {
    readonly name: string;
    readonly arguments: string;
    readonly id?: string;
  }[];
  /** Refuses the request instead, as the provider would. */
  readonly error?: { readonly message: string; readonly type?: string; readonly code?: string };
  readonly status?: number;
  readonly usage?: {
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
    readonly input_tokens?: number;
    readonly output_tokens?: number;
  };
}

/** One message of a request, in OpenAI's shape whichever provider's format it came in. */
export interface SentMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

export interface ModelServer {
  readonly url: string;
  /** The messages of each request so far, system prompts left out. */
  requests(): SentMessage[][];
  /**
   * Calls without a result, and calls and results with an id that an earlier one has, in requests
   * that were answered with 400, as strict providers do.
   */
  refused(): readonly string[];
  /** The system prompt of each request so far. */
  systemPrompts(): string[];
  /** The names of the tools that each request so far offered. */
  offeredTools(): string[][];
  /** Environment for a process that is to use this server. */
  env(provider: "openai" | "anthropic"): Record<string, string>;
  stop(): Promise<void>;
}

export interface ModelServerOptions {
  readonly answer: (
    messages: readonly SentMessage[],
    index: number,
    /** Names of the tools that the model may call. */
    offered: readonly string[],
  ) => ModelAnswer;
  /** Milliseconds between two pieces of a streamed answer. */
  readonly latencyMs?: number;
  readonly chunkSize?: number;
}

/** A model server on loopback that speaks OpenAI's and Anthropic's wire formats. */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  let index = 0;
  const refused: string[] = [];
  mock.on(
    { predicate: () => true },
    (request) => {
      const messages = sentMessages(request);
      const wrong = [...openCalls(messages), ...repeatedIds(messages)];
      if (wrong.length > 0) {
        refused.push(...wrong);
        const message = `no result for these calls, or ids used twice: ${wrong.join(", ")}`;
        return { error: { message }, status: 400 };
      }
      const answer = options.answer(messages, index++, toolNames(request));
      if (answer.error !== undefined) {
        return { error: answer.error, status: answer.status ?? 400 };
      }
      const id = answer.id === undefined ? {} : { id: answer.id };
      return answer.toolCalls === undefined
        ? { ...id, content: answer.content ?? "", ...(answer.usage ? { usage: answer.usage } : {}) }
        : {
            ...id,
            ...(answer.content === undefined ? {} : { content: answer.content }),
            toolCalls: answer.toolCalls,
            ...(answer.usage ? { usage: answer.usage } : {}),
          };
    },
    { latency: options.latencyMs ?? 0, chunkSize: options.chunkSize ?? 20 },
  );
  await mock.start();
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (!stopped) {
      stopped = true;
      await mock.stop();
    }
  };
  onTestFinished(stop);
  return {
    url: mock.url,
    refused: () => refused,
    requests: () => mock.getRequests().map(({ body }) => sentMessages(body)),
    systemPrompts: () => mock.getRequests().map(({ body }) => systemPrompt(body)),
    offeredTools: () => mock.getRequests().map(({ body }) => toolNames(body)),
    env: (provider): Record<string, string> =>
      provider === "openai"
        ? { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "test-key" }
        : { ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: "test-key" },
    stop,
  };
}

/** Calls in a request that no tool message answers before the next message. */
function openCalls(messages: readonly SentMessage[]): string[] {
  const open = new Set<string>();
  const left: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      open.delete(message.tool_call_id ?? "");
      continue;
    }
    left.push(...open);
    open.clear();
    for (const call of message.tool_calls ?? []) {
      open.add(call.id);
    }
  }
  return [...left, ...open];
}

/** Ids of calls, and of results, that an earlier one of the request has. */
function repeatedIds(messages: readonly SentMessage[]): string[] {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const results = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
  return [calls, results].flatMap((ids) => ids.filter((id, at) => ids.indexOf(id) !== at));
}

function sentMessages(body: unknown): SentMessage[] {
  const { messages } = body as { messages: readonly RawMessage[] };
  return messages
    .filter(({ role }) => role !== "system")
    .map((message) => ({ ...message, content: textOf(message.content) }));
}

function systemPrompt(body: unknown): string {
  const { messages } = body as { messages: readonly RawMessage[] };
  return messages
    .filter(({ role }) => role === "system")
    .map(({ content }) => textOf(content))
    .join("\n");
}

function toolNames(body: unknown): string[] {
  const { tools = [] } = body as { tools?: readonly { function: { name: string } }[] };
  return tools.map((tool) => tool.function.name);
}

interface RawMessage extends Omit<SentMessage, "content"> {
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null;
}

function textOf(content: RawMessage["content"]): string {
  return typeof content === "string"
    ? content
    : (content ?? []).map((part) => part.text ?? "").join("");
}
