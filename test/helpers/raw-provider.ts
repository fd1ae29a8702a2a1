import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import type { ModelApi } from "../../src/agent/models/answer-end.ts";

/** APIs whose answers are made here. */
export type RawApi = Exclude<ModelApi, "google" | "bedrock">;

export interface RawProvider extends AsyncDisposable {
  /** The body of each request so far. */
  readonly requests: Record<string, unknown>[];
  readonly env: Record<string, string>;
}

/** An answer's bytes, or a status with a JSON body in the place of an answer. */
export type RawAnswer =
  | string
  /** Bytes, and what to wait for between them. */
  | readonly (string | Promise<unknown>)[]
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> };

/** A provider on loopback that sends exactly what it is given, one answer for each request. */
export async function startRawProvider(
  api: RawApi,
  answer: (index: number) => RawAnswer,
): Promise<RawProvider> {
  const requests: Record<string, unknown>[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const body = Buffer.concat(chunks).toString();
    if (request.method !== "POST" || !/"(?:messages|input)"/.test(body)) {
      response.end(JSON.stringify({ models: [] }));
      return;
    }
    requests.push(JSON.parse(body) as Record<string, unknown>);
    const given = answer(requests.length - 1);
    if (typeof given === "object" && "status" in given) {
      response.writeHead(given.status, { "content-type": "application/json", ...given.headers });
      response.end(JSON.stringify(given.body));
      return;
    }
    response.writeHead(200, { "content-type": TYPES[api] });
    for (const part of [given].flat()) {
      response.write(await part);
    }
    response.end();
  };
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    requests,
    env: ENVIRONMENTS[api](url),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const TYPES: Record<RawApi, string> = {
  anthropic: "text/event-stream",
  responses: "text/event-stream",
  chat: "text/event-stream",
  ollama: "application/x-ndjson",
};

const openAiEnvironment = (url: string) => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: "test-key",
  REPRISE_MODEL: "openai:gpt-test",
});

const ENVIRONMENTS: Record<RawApi, (url: string) => Record<string, string>> = {
  anthropic: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "test-key",
    REPRISE_MODEL: "anthropic:claude-test",
  }),
  responses: openAiEnvironment,
  chat: openAiEnvironment,
  ollama: (url) => ({ OLLAMA_BASE_URL: url, REPRISE_MODEL: "ollama:test" }),
};

/** What an answer holds, in the order in which it is sent. */
export interface Content {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: string }[];
}

/** One server-sent event. */
export const event = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const claude = (type: string, fields: object): string => event({ type, ...fields }, type);

/** Claude's answer. Without a `delta` it ends without a stop reason. */
export function claudeAnswer({ reasoning, text, calls = [] }: Content, delta?: object): string {
  const blocks = [
    ...(reasoning === undefined
      ? []
      : [
          {
            begin: { type: "thinking", thinking: "", signature: "" },
            deltas: [
              { type: "thinking_delta", thinking: reasoning },
              { type: "signature_delta", signature: "c2lnbmF0dXJl" },
            ],
          },
        ]),
    ...(text === undefined
      ? []
      : [{ begin: { type: "text", text: "" }, deltas: [{ type: "text_delta", text }] }]),
    ...calls.map(({ name, args }, at) => ({
      begin: { type: "tool_use", id: `toolu_${at}`, name, input: {} },
      deltas: [{ type: "input_json_delta", partial_json: args }],
    })),
  ];
  return [
    claude("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-test",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    }),
    ...blocks.flatMap(({ begin, deltas }, index) => [
      claude("content_block_start", { index, content_block: begin }),
      ...deltas.map((delta) => claude("content_block_delta", { index, delta })),
      claude("content_block_stop", { index }),
    ]),
    ...(delta === undefined
      ? []
      : [
          claude("message_delta", {
            delta: { stop_sequence: null, ...delta },
            usage: { output_tokens: 4 },
          }),
          claude("message_stop", {}),
        ]),
  ].join("");
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  event({
    id: "c1",
    object: "chat.completion.chunk",
    model: "gpt-test",
    choices: [{ index: 0, delta, finish_reason }],
  });

/** An answer of Chat Completions. Without a reason it ends without one, and without counts. */
export function chatAnswer({ reasoning, text, calls = [] }: Content, reason?: string): string {
  return [
    chunk({ role: "assistant", content: "" }),
    ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
    ...(text === undefined ? [] : [chunk({ content: text })]),
    ...calls.map(({ name, args }, index) =>
      chunk({
        tool_calls: [
          { index, id: `call_${index}`, type: "function", function: { name, arguments: args } },
        ],
      }),
    ),
    ...(reason === undefined ? [] : [chunk({}, reason), "data: [DONE]\n\n"]),
  ].join("");
}

const line = (message: object, more: object = {}): string =>
  `${JSON.stringify({
    model: "test",
    created_at: "2026-01-01T00:00:00Z",
    done: false,
    ...more,
    message: { role: "assistant", content: "", ...message },
  })}\n`;

/** Ollama's answer. Without a reason it ends without its last line. */
export function ollamaAnswer({ reasoning, text, calls = [] }: Content, reason?: string): string {
  return [
    ...(reasoning === undefined ? [] : [line({ thinking: reasoning })]),
    ...(text === undefined ? [] : [line({ content: text })]),
    ...calls.map(({ name, args }) =>
      line({ tool_calls: [{ function: { name, arguments: JSON.parse(args) as unknown } }] }),
    ),
    ...(reason === undefined
      ? []
      : [line({}, { done: true, done_reason: reason, prompt_eval_count: 3, eval_count: 4 })]),
  ].join("");
}

/** An item of a response. */
export type Item = Record<string, unknown> & { readonly type: string };

export const messageItem = (text: string, id = "msg_1"): Item => ({
  id,
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});

export const callItem = (name: string, args: string, call_id = "call_1"): Item => ({
  id: `fc_${call_id}`,
  type: "function_call",
  status: "completed",
  call_id,
  name,
  arguments: args,
});

export const reasoningItem = (id: string, encrypted_content: string | null): Item => ({
  id,
  type: "reasoning",
  summary: [],
  encrypted_content,
});

/** The events of a response with these items. Without an end it breaks off after them. */
export function responseEvents(
  items: readonly Item[],
  end: { readonly type: string; readonly response?: object } | null,
): string {
  let sequence_number = 0;
  const send = (type: string, fields: object): string =>
    event({ type, sequence_number: sequence_number++, ...fields }, type);
  const response = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "gpt-test",
    instructions: "the instructions, repeated",
    tools: [{ type: "function", name: "repeated" }],
    status: "in_progress",
    error: null,
    incomplete_details: null,
    output: [],
    service_tier: "default",
  };
  return [
    send("response.created", { response }),
    ...items.flatMap((item, output_index) => [
      send("response.output_item.added", { output_index, item: begun(item) }),
      ...piecesOf(item).map(([type, fields]) =>
        send(type, { item_id: item["id"], output_index, ...fields }),
      ),
      send("response.output_item.done", { output_index, item }),
    ]),
    ...(end === null
      ? []
      : [
          send(end.type, {
            response: {
              ...response,
              output: items,
              usage: {
                input_tokens: 3,
                output_tokens: 4,
                total_tokens: 7,
                input_tokens_details: { cached_tokens: 0 },
                output_tokens_details: { reasoning_tokens: 0 },
              },
              ...end.response,
            },
          }),
        ]),
  ].join("");
}

function begun(item: Item): Item {
  switch (item.type) {
    case "message":
      return { ...item, content: [] };
    case "function_call":
      return { ...item, arguments: "" };
    default:
      return { ...item, encrypted_content: "" };
  }
}

function piecesOf(item: Item): (readonly [type: string, fields: object])[] {
  if (item.type === "function_call") {
    return [["response.function_call_arguments.delta", { delta: item["arguments"] }]];
  }
  const content = Array.isArray(item["content"]) ? (item["content"] as { text?: string }[]) : [];
  return content.map(({ text = "" }, content_index) => [
    "response.output_text.delta",
    { content_index, delta: text, logprobs: [] },
  ]);
}

/** An answer of the Responses API; its end is `completed`, or such as `incomplete max_output_tokens`. */
export function responsesAnswer({ reasoning, text, calls = [] }: Content, reason?: string): string {
  const items = [
    ...(reasoning === undefined ? [] : [reasoningItem("rs_1", "ZW5jcnlwdGVk")]),
    ...(text === undefined ? [] : [messageItem(text)]),
    ...calls.map(({ name, args }, at) => callItem(name, args, `call_${at}`)),
  ];
  if (reason === undefined) {
    return responseEvents(items, null);
  }
  const [status = "", why] = reason.split(" ");
  const incomplete_details = why === undefined ? null : { reason: why };
  return responseEvents(items, {
    type: `response.${status}`,
    response: { status, incomplete_details },
  });
}

/** Chunks of Chat Completions as some servers send them. */
export const chatChunk = chunk;
