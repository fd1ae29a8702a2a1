import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";

import type { Body, Broken } from "./rules.ts";
import { partBeforeCut } from "./cut-stream.ts";
import { type PartStep, type Step, stepOf } from "./steps.ts";

/** Tokens of a request and its answer. */
export interface Usage {
  /** Neither read from the cache nor written to it. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** Reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

export type InputUsage = Omit<Usage, "output" | "reasoning">;

/** A piece of reasoning that the model did not get to see. */
export interface Dropped {
  readonly path: string;
  readonly reason: string;
}

/** A request as the provider keeps it. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Null if it was answered. */
  readonly refusal: Broken | null;
  /** Rules that it breaks and that the test's options forgive. */
  readonly forgiven: readonly Broken[];
  /** The stream of the answer, as far as it was sent. */
  sent: string;
  /** Null until the answer has ended. */
  usage: Usage | null;
  dropped: readonly Dropped[];
}

/** An answer in the form of an API. */
export interface Answer {
  /** Content type of the stream. */
  readonly type: string;
  begin(): string;
  write(step: PartStep): string;
  end(): string;
  /** The answer in one piece, for a request without a stream; after `end`. */
  whole(): unknown;
}

export interface Asked {
  readonly received: Received;
  readonly steps: readonly Step[];
}

/** An API that a provider serves. */
export interface Api {
  readonly path: string;
  broken(body: Body, headers: IncomingHttpHeaders): readonly Broken[];
  /** A refusal or another error as a body. */
  error(refusal: Omit<Broken, "rule">): unknown;
  open(asked: Asked): Answer;
}

/** Answers the request `index`, counted without those that were refused. */
export type Script = (
  index: number,
  body: string,
  received: Received,
) => readonly Step[] | Promise<readonly Step[]>;

export interface ProviderServer extends AsyncDisposable {
  readonly url: string;
  /** The body of each request so far. */
  readonly requests: readonly Body[];
  readonly received: readonly Received[];
  /** The rules that requests broke, except for those that are forgiven. */
  refusals(): readonly Broken[];
}

export interface ServeOptions {
  readonly apis: readonly Api[];
  readonly script: Script;
  /** Ids of rules that are recorded and not enforced. */
  readonly forgives?: readonly string[];
}

/** Serves APIs on loopback. */
export async function serveProvider(options: ServeOptions): Promise<ProviderServer> {
  const received: Received[] = [];
  let answered = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request);
    const api = options.apis.find(({ path }) => request.url?.split("?")[0] === path);
    if (request.method !== "POST" || api === undefined) {
      sendOther(request, response);
      return;
    }
    const body = JSON.parse(text) as Body;
    const broken = api.broken(body, request.headers);
    const isForgiven = ({ rule }: Broken): boolean => options.forgives?.includes(rule) ?? false;
    const refusal = broken.find((one) => !isForgiven(one)) ?? null;
    const entry: Received = {
      path: api.path,
      headers: request.headers,
      body,
      refusal,
      forgiven: broken.filter(isForgiven),
      sent: "",
      usage: null,
      dropped: [],
    };
    received.push(entry);
    if (refusal !== null) {
      sendJson(response, refusal.status ?? 400, api.error(refusal));
      return;
    }
    const steps = await options.script(answered++, text, entry);
    await play({ response, steps, api, received: entry });
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    received,
    get requests() {
      return received.map(({ body }) => body);
    },
    refusals: () => received.flatMap(({ refusal }) => refusal ?? []),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

/** Lists of models are empty; nothing else is served. */
function sendOther(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === "GET") {
    sendJson(response, 200, { object: "list", data: [], models: [] });
  } else {
    sendJson(response, 404, { error: { message: "not found", type: "not_found_error" } });
  }
}

function cutOff(response: ServerResponse, how: "end" | "reset"): void {
  if (how === "end") {
    response.end();
  } else {
    response.socket?.resetAndDestroy();
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

interface Playing extends Asked {
  readonly response: ServerResponse;
  readonly api: Api;
}

async function play({ response, steps, api, received }: Playing): Promise<void> {
  response.on("error", () => undefined);
  const [first] = steps;
  if (first?.kind === "status") {
    const error = { message: "refused", type: "test_error", ...first.error };
    sendJson(response, first.status, api.error(error), first.headers);
    return;
  }
  const answer = api.open({ received, steps });
  // Ollama streams unless the request forbids it
  const isStream = received.body["stream"] ?? answer.type === "application/x-ndjson";
  const write = (text: string): void => {
    if (isStream && text !== "") {
      received.sent += text;
      response.write(text);
    }
  };
  if (isStream) {
    response.writeHead(200, { "content-type": answer.type });
  }
  const cut = stepOf(steps, "cut_at");
  if (cut !== undefined) {
    received.sent = partBeforeCut(answer, steps);
    response.write(received.sent, () => setImmediate(() => cutOff(response, cut.how)));
    return;
  }
  write(answer.begin());
  for (const step of steps) {
    if (response.destroyed) {
      return;
    }
    switch (step.kind) {
      case "status":
        throw new Error("a status is all of an answer");
      case "drop":
        // waits until the client has what was written
        response.write("", () => setImmediate(() => response.destroy()));
        return;
      case "stall":
        return;
      case "wait":
        await (typeof step.until === "function" ? step.until() : step.until);
        break;
      case "stop":
      case "usage":
      case "answer_id":
      case "cut_at":
        break;
      case "error":
        write(answer.write(step));
        response.end();
        return;
      default:
        write(answer.write(step));
    }
  }
  write(answer.end());
  if (isStream) {
    response.end();
  } else {
    sendJson(response, 200, answer.whole());
  }
}
