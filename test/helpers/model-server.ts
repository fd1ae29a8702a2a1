import { setTimeout as sleep } from "node:timers/promises";

import { onTestFinished } from "vitest";

import { sentRequest, type SentMessage as Sent } from "./providers/sent-messages.ts";
import { type Received, serveProvider } from "./providers/server.ts";
import { apisOf, KNOWN_CONTEXT } from "./providers/start.ts";
import { piecesOf, type Step } from "./providers/steps.ts";

/** What the mock model answers to one request. */
export interface ModelAnswer {
  /** The provider's id of the answer; another one each time if it is not given. */
  readonly id?: string;
  readonly content?: string;
  readonly toolCalls?: readonly {
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

export type SentMessage = Sent;

export interface ModelServer {
  readonly url: string;
  /** The messages of each request so far, system prompts left out. */
  requests(): SentMessage[][];
  /** The messages of each request whose answer was sent to its end. */
  completed(): SentMessage[][];
  /** Why requests were refused with 400, as the real provider refuses them. */
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

/** A model server on loopback that speaks OpenAI's and Anthropic's wire formats, and refuses what they refuse. */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const now = (): number => 0;
  const server = await serveProvider({
    apis: [...apisOf("openai", {}, now), ...apisOf("anthropic", {}, now)],
    script: (index, _, received) => {
      const { messages, tools } = sentRequest(received);
      return stepsOf(options.answer(messages, index, tools), options);
    },
  });
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (!stopped) {
      stopped = true;
      await server[Symbol.asyncDispose]();
    }
  };
  onTestFinished(stop);
  const { url } = server;
  const sent = (): ReturnType<typeof sentRequest>[] =>
    server.received.map((one: Received) => sentRequest(one));
  return {
    url,
    refused: () => server.refusals().map(({ rule, message }) => `${rule}: ${message}`),
    requests: () => sent().map(({ messages }) => messages),
    completed: () =>
      server.received
        .filter(({ usage }) => usage !== null)
        .map((one: Received) => sentRequest(one).messages),
    systemPrompts: () => sent().map(({ system }) => system),
    offeredTools: () => sent().map(({ tools }) => tools),
    env: (provider): Record<string, string> => ({
      ...KNOWN_CONTEXT,
      ...(provider === "openai"
        ? { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "test-key" }
        : { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "test-key" }),
    }),
    stop,
  };
}

function stepsOf(answer: ModelAnswer, options: ModelServerOptions): Step[] {
  const { error, status = 400, id, content = "", toolCalls = [], usage } = answer;
  if (error !== undefined) {
    return [{ kind: "status", status, error: { ...error } }];
  }
  const { latencyMs = 0, chunkSize: size = 20 } = options;
  const wait: Step[] = latencyMs === 0 ? [] : [{ kind: "wait", until: () => sleep(latencyMs) }];
  const input = usage?.input_tokens ?? usage?.prompt_tokens;
  const output = usage?.output_tokens ?? usage?.completion_tokens;
  return [
    ...(id === undefined ? [] : [{ kind: "answer_id", id } as const]),
    ...(input === undefined && output === undefined
      ? []
      : [{ kind: "usage", input: input ?? 0, output: output ?? 0 } as const]),
    ...piecesOf(content, size).flatMap((text): Step[] => [...wait, { kind: "text", text }]),
    ...toolCalls.flatMap(({ name, arguments: args, id: callId }): Step[] => [
      ...wait,
      { kind: "call", name, args, size, ...(callId === undefined ? {} : { id: callId }) },
    ]),
  ];
}
