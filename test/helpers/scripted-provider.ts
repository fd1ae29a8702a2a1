import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export const PROVIDERS = ["openai", "anthropic", "ollama"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** One thing that the provider does while it answers. */
export type Step =
  | { readonly kind: "text" | "reasoning"; readonly text: string }
  /** Arguments are sent in pieces of `size` characters; Ollama sends them whole. */
  | { readonly kind: "call"; readonly name: string; readonly args: string; readonly size: number }
  /** The beginning of a call, with its name and these characters of its arguments. */
  | { readonly kind: "cut_call"; readonly name: string; readonly args: string }
  /** What keeps a connection open and says nothing. */
  | { readonly kind: "comment" | "ping" }
  | { readonly kind: "wait"; readonly until: Promise<unknown> }
  /** The connection is closed without the end of the answer. */
  | { readonly kind: "drop" }
  /** The connection stays open, and nothing more comes. */
  | { readonly kind: "stall" }
  /** In place of an answer. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly error?: Readonly<Record<string, string>>;
    };

export const text = (words: string): Step => ({ kind: "text", text: words });

/** A call of a tool whose arguments come at once. */
export const call = (name: string, args: unknown): Step => ({
  kind: "call",
  name,
  args: JSON.stringify(args),
  size: 1000,
});

export interface ScriptedProvider extends AsyncDisposable {
  /** The body of each request so far. */
  readonly requests: Record<string, unknown>[];
  readonly env: Record<string, string>;
}

/** A provider on loopback that sends what a script says, byte for byte in its own format. */
export async function startScriptedProvider(
  name: ProviderName,
  script: (index: number, body: string) => readonly Step[] | Promise<readonly Step[]>,
): Promise<ScriptedProvider> {
  const requests: Record<string, unknown>[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const body = Buffer.concat(chunks).toString();
    if (request.method === "POST" && body.includes('"messages"')) {
      requests.push(JSON.parse(body) as Record<string, unknown>);
      await play(response, FORMATS[name], await script(requests.length - 1, body));
    } else {
      response.end(JSON.stringify({ models: [] }));
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    requests,
    env: { ...ENVIRONMENTS[name](url), REPRISE_MODEL: `${name}:test` },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const ENVIRONMENTS: Record<ProviderName, (url: string) => Record<string, string>> = {
  openai: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "test-key" }),
  anthropic: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "test-key" }),
  ollama: (url) => ({ OLLAMA_BASE_URL: url }),
};

async function play(response: ServerResponse, format: Format, steps: readonly Step[]) {
  response.on("error", () => undefined);
  const [first] = steps;
  if (first?.kind === "status") {
    response.writeHead(first.status, { "content-type": "application/json", ...first.headers });
    response.end(
      JSON.stringify({ error: { message: "refused", type: "test_error", ...first.error } }),
    );
    return;
  }
  response.writeHead(200, { "content-type": format.type });
  response.write(format.begin);
  let block = 0;
  for (const step of steps) {
    switch (step.kind) {
      case "status":
        throw new Error("a status is all of an answer");
      case "drop":
        // what was written has to be on its way first
        response.write("", () => setImmediate(() => response.destroy()));
        return;
      case "stall":
        return;
      case "wait":
        await step.until;
        break;
      case "comment":
      case "ping":
        response.write(format[step.kind]);
        break;
      case "text":
      case "reasoning":
        response.write(format[step.kind](step.text, block++));
        break;
      case "cut_call":
        response.write(format.call(step.name, block, [step.args], false));
        break;
      case "call":
        response.write(format.call(step.name, block++, piecesOf(step.args, step.size), true));
        break;
    }
  }
  response.end(format.end(steps.some(({ kind }) => kind === "call")));
}

function piecesOf(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

interface Format {
  readonly type: string;
  readonly begin: string;
  readonly comment: string;
  readonly ping: string;
  readonly text: (text: string, block: number) => string;
  readonly reasoning: (text: string, block: number) => string;
  readonly call: (name: string, block: number, pieces: string[], whole: boolean) => string;
  readonly end: (called: boolean) => string;
}

const openAi = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", model: "test", choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
const anthropic = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const ollama = (message: object, more: object = {}): string =>
  `${JSON.stringify({ model: "test", created_at: "2026-01-01T00:00:00Z", done: false, ...more, message: { role: "assistant", content: "", ...message } })}\n`;

function anthropicBlock(index: number, content_block: object, deltas: object[], whole = true) {
  return [
    anthropic("content_block_start", { index, content_block }),
    ...deltas.map((delta) => anthropic("content_block_delta", { index, delta })),
    ...(whole ? [anthropic("content_block_stop", { index })] : []),
  ].join("");
}

const FORMATS: Record<ProviderName, Format> = {
  openai: {
    type: "text/event-stream",
    begin: openAi({ role: "assistant", content: "" }),
    comment: ": keep\n\n",
    ping: openAi({ content: "" }),
    text: (content) => openAi({ content }),
    reasoning: (reasoning_content) => openAi({ reasoning_content }),
    call: (name, index, pieces) =>
      [
        { index, id: `call_${index}`, type: "function", function: { name, arguments: "" } },
        ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
      ]
        .map((call) => openAi({ tool_calls: [call] }))
        .join(""),
    end: (called) =>
      `${openAi({}, { finish_reason: called ? "tool_calls" : "stop" })}data: [DONE]\n\n`,
  },
  anthropic: {
    type: "text/event-stream",
    begin: anthropic("message_start", {
      message: {
        id: "m1",
        type: "message",
        role: "assistant",
        model: "test",
        content: [],
        usage: { input_tokens: 1, output_tokens: 0 },
      },
    }),
    comment: ": keep\n\n",
    ping: anthropic("ping", {}),
    text: (text, block) =>
      anthropicBlock(block, { type: "text", text: "" }, [{ type: "text_delta", text }]),
    reasoning: (thinking, block) =>
      anthropicBlock(block, { type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking },
      ]),
    call: (name, block, pieces, whole) =>
      anthropicBlock(
        block,
        { type: "tool_use", id: `call_${block}`, name, input: {} },
        pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
        whole,
      ),
    end: (called) =>
      anthropic("message_delta", {
        delta: { stop_reason: called ? "tool_use" : "end_turn" },
        usage: { output_tokens: 1 },
      }) + anthropic("message_stop", {}),
  },
  ollama: {
    type: "application/x-ndjson",
    begin: "",
    comment: "",
    ping: ollama({}),
    text: (content) => ollama({ content }),
    reasoning: (thinking) => ollama({ thinking }),
    call: (name, _block, pieces) =>
      ollama({ tool_calls: [{ function: { name, arguments: JSON.parse(pieces.join("")) } }] }),
    end: () => ollama({}, { done: true, done_reason: "stop", prompt_eval_count: 1, eval_count: 1 }),
  },
};
