import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";

/** A provider on loopback with OpenAI's format that streams words at a steady rate. */
export interface TokenModel extends AsyncDisposable {
  readonly url: string;
  /** Resolves with the time (`performance.now`) at which the next request has arrived. */
  nextRequest(): Promise<number>;
}

export interface TokenOptions {
  /** How many words the answer to this question has. */
  readonly tokens: (question: string) => number;
  /** Milliseconds between two of them. */
  readonly everyMs: number;
}

const WORDS_OF_PARAGRAPH = 60;

export async function startTokenModel({ tokens, everyMs }: TokenOptions): Promise<TokenModel> {
  let arrived = Promise.withResolvers<number>();
  const server = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      arrived.resolve(at);
      arrived = Promise.withResolvers();
      const body: { messages: { content: unknown }[] } = JSON.parse(
        Buffer.concat(chunks).toString(),
      );
      void answer(response, tokens(JSON.stringify(body.messages.at(-1)?.content)), everyMs);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("no port");
  }
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    nextRequest: () => arrived.promise,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The word of a position, with what follows it. */
export function tokenAt(index: number): string {
  return `word${index}${(index + 1) % WORDS_OF_PARAGRAPH === 0 ? "\n\n" : " "}`;
}

async function answer(response: ServerResponse, count: number, everyMs: number): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (choice: object): void => {
    const data = { id: "answer", object: "chat.completion.chunk", created: 1, model: "test" };
    response.write(
      `data: ${JSON.stringify({ ...data, choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`,
    );
  };
  send({ delta: { role: "assistant", content: "" } });
  const begun = performance.now();
  for (let index = 0; index < count && !response.destroyed; index += 1) {
    const due = begun + index * everyMs;
    if (due > performance.now()) {
      await setTimeout(due - performance.now());
    }
    send({ delta: { content: tokenAt(index) } });
  }
  send({ delta: {}, finish_reason: "stop" });
  response.end("data: [DONE]\n\n");
}
