import type { FastifyReply, FastifyRequest } from "fastify";

import { isAtWork } from "../../core/schemas/exchange-end.ts";
import { LISTED_BYTES, MAX_BODY_BYTES } from "../../core/limits.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import type { ExchangeRecord, Message } from "../../core/sessions.ts";
import { readCurrent } from "../../store/records/exchanges/current.ts";
import { readExchange } from "../../store/records/exchanges/read.ts";
import { readMessagesWithin } from "../../store/records/messages/detail-within.ts";
import { resolveSession } from "../../store/records/sessions/read.ts";
import type { Operation, Store } from "../../store/store.ts";
import { problems, REQUEST_ID, type ResponseText } from "../responses.ts";
import type { LiveStreams } from "../live/live-streams.ts";
import { beginStream, EVENT_STREAM } from "../stream/open-answers.ts";
import {
  createAgUiEncoder,
  readAgUiRequest,
  RunAgentInput,
} from "../../compat/chat-protocols/ag-ui.ts";
import {
  createUiEncoder,
  readUiRequest,
  UI_STREAM_HEADERS,
  UiChatRequest,
} from "../../compat/chat-protocols/ai-sdk.ts";
import { readClientIds } from "../../store/records/exchanges/client-ids.ts";
import type { ExchangeStep } from "../../compat/chat-protocols/exchange-steps.ts";
import { exchangeSteps } from "../live/follow-exchange.ts";
import { type ShownExchange, submit } from "../../compat/chat-protocols/submit.ts";
import { recordFor } from "../shown-failure.ts";
import { whoSends } from "../unsent/fair-line.ts";
import {
  type Api,
  BODY_PROBLEMS,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
} from "./api.ts";

/** Translates an exchange for a client of another protocol, into events: each is the JSON of a server-sent one. */
interface Encoder {
  readonly start: readonly object[];
  /** With the messages before what follows, if the protocol lists them. */
  readonly begin?: (
    before: readonly Message[],
    ids: ReadonlyMap<number, string>,
  ) => readonly object[];
  readonly encode: (step: ExchangeStep) => readonly object[];
  readonly end: (exchange: ExchangeRecord) => readonly object[];
  /** Text after the last event. */
  readonly done?: string;
}

export interface UiService extends SessionService {
  readonly live: LiveStreams;
}

const OWN_PROBLEMS = {
  ...SESSION_PROBLEMS,
  ...BODY_PROBLEMS,
  403: "`token_required`: the request has no token.",
  409: "`session_ended`, `session_busy` (a sub-agent's session), `not_confirmed` (its model, persona or folder came without the token), `nothing_to_continue`, `question_withdrawn`, or `ambiguous_id`.",
} as const;

const stream = (answer: ResponseText) => ({
  ...answer,
  headers: { "X-Request-Id": REQUEST_ID, ...answer.headers },
  content: { [EVENT_STREAM]: { schema: { type: "string" } } },
});

const VERSION_HEADER = {
  "X-Vercel-AI-UI-Message-Stream": { type: "string", description: "`v1`." },
} as const;

const chatSchema = {
  operationId: "chatWithAiSdk",
  summary: "Sends a message and streams the answer to the AI SDK's useChat",
  description:
    "For `DefaultChatTransport` of the package `ai`. The last message counts: a user's message is queued, and withdraws open questions; replies to requests for approval answer the questions. The answer is a UI message stream, version 1.",
  params: SessionParams,
  querystring: NoQuery,
  body: UiChatRequest,
  response: {
    200: stream({ description: "The stream.", headers: VERSION_HEADER }),
    ...problems(OWN_PROBLEMS),
  },
} as const;

const resumeSchema = {
  operationId: "resumeWithAiSdk",
  summary: "Streams the answer that is under way to the AI SDK's useChat",
  description: "For `reconnectToStream`: the whole exchange from its beginning.",
  params: SessionParams,
  querystring: NoQuery,
  response: {
    200: stream({ description: "The stream.", headers: VERSION_HEADER }),
    204: {
      type: "null",
      description: "No exchange is under way.",
      headers: { "X-Request-Id": REQUEST_ID },
    },
    ...problems({ ...SESSION_PROBLEMS, 403: OWN_PROBLEMS[403] }),
  },
} as const;

const runSchema = {
  operationId: "runWithAgUi",
  summary: "Runs the agent for an AG-UI client",
  description:
    "For `HttpAgent` of the package `@ag-ui/client`. The last message is queued, and withdraws open questions; `resume` answers them. The events begin with the session's last messages, 200 and 512 KiB at most.",
  params: SessionParams,
  querystring: NoQuery,
  body: RunAgentInput,
  response: { 200: stream({ description: "The events." }), ...problems(OWN_PROBLEMS) },
} as const;

/** Routes for chat clients that exist: each translates the live feed into their protocol. */
export function uiRoutes(app: Api, service: UiService): void {
  const { store, checkPrice } = service;
  const sessionOf = ({ params }: { readonly params: { readonly id: string } }) =>
    store.read(resolveSession, { reference: params.id });

  app.route({
    method: "POST",
    url: "/api/sessions/:id/ui/ai-sdk",
    schema: chatSchema,
    bodyLimit: MAX_BODY_BYTES,
    handler: async (request, reply) => {
      const asked = readUiRequest(request.body);
      const { id } = await sessionOf(request);
      const followed = await submit(store, {
        session_id: id,
        request: asked,
        principal: request.principal,
        checkPrice,
      });
      const encoder = createUiEncoder(followed.exchange, followed);
      reply.headers(UI_STREAM_HEADERS);
      return send(service, { request, reply, followed, encoder: { ...encoder, done: DONE } });
    },
  });
  app.route({
    method: "GET",
    url: "/api/sessions/:id/ui/ai-sdk",
    schema: resumeSchema,
    config: { needs: "read_private" },
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { id } = await sessionOf(request);
      const exchange = await store.read(readUnfinished, id);
      if (exchange === null) {
        return reply.code(204).send(null);
      }
      const followed = { session_id: id, n: exchange.n, after_seq: null, calls: [] };
      const encoder = createUiEncoder(exchange);
      reply.headers(UI_STREAM_HEADERS);
      return send(service, { request, reply, followed, encoder: { ...encoder, done: DONE } });
    },
  });
  app.route({
    method: "HEAD",
    url: "/api/sessions/:id/ui/ai-sdk",
    schema: { ...resumeSchema, hide: true },
    config: { needs: "read_private" },
    handler: async (request, reply) => {
      const { id } = await sessionOf(request);
      if ((await store.read(readUnfinished, id)) === null) {
        return reply.code(204).send(null);
      }
      // as GET: a length would say that the stream is empty
      reply.hijack();
      beginStream(reply.raw, { ...reply.getHeaders(), ...UI_STREAM_HEADERS });
      reply.raw.end();
      return reply;
    },
  });
  app.route({
    method: "POST",
    url: "/api/sessions/:id/ui/ag-ui",
    schema: runSchema,
    bodyLimit: MAX_BODY_BYTES,
    handler: async (request, reply) => {
      const { threadId, runId } = request.body;
      const asked = readAgUiRequest(request.body);
      const { id } = await sessionOf(request);
      const followed = await submit(store, {
        session_id: id,
        request: asked,
        principal: request.principal,
        checkPrice,
      });
      const encoder = createAgUiEncoder({ threadId, runId }, asked);
      const known = request.body.messages.map((message) => message.id);
      return send(service, { request, reply, followed, encoder, known });
    },
  });
}

const DONE = "[DONE]";
const LARGE_EVENT_BYTES = 8 * 1024;

/** Returns what the session does or waits for; null if that is nothing. */
const readUnfinished: Operation<string, ExchangeRecord | null> = async (tx, id) => {
  const current = (await readCurrent(tx, [id])).get(id);
  if (current === undefined) {
    return null;
  }
  const exchange = await readExchange(tx, { reference: id, n: current.n });
  return isAtWork(exchange) || exchange.state === "waiting" ? exchange : null;
};

async function send(
  { store, live, unsent }: UiService,
  {
    request,
    reply,
    followed,
    encoder,
    known = [],
  }: {
    readonly request: Pick<FastifyRequest, "id" | "principal" | "login" | "ip">;
    readonly reply: FastifyReply;
    readonly followed: ShownExchange;
    readonly encoder: Encoder;
    /** Ids of the messages that the client shows. */
    readonly known?: readonly string[];
  },
): Promise<FastifyReply> {
  const pages = unsent.streams({ response: reply.raw, who: whoSends(request) });
  const answer = {
    response: reply.raw,
    headers: reply.getHeaders(),
    id: request.id,
    begin: () => {
      reply.hijack();
    },
    pages,
  };
  await live.answer(answer, async (output) => {
    let wasLarge = false;
    const writeAll = async (events: readonly object[]): Promise<void> => {
      // more of it follows: nothing else of the service would be done meanwhile
      const end = wasLarge ? await pages.turn() : null;
      const bytes = bytesOf(events);
      end?.();
      wasLarge = bytes.length > LARGE_EVENT_BYTES;
      await output.write(bytes);
    };
    await writeAll(encoder.start);
    for await (const step of exchangeSteps({ store, live, pages }, followed, output.signal)) {
      if (step.type === "begin") {
        const place = { session_id: followed.session_id, after_seq: step.after_seq, ids: known };
        const { bytes } = await pages.read(() => readBefore(store, place, encoder));
        if (bytes !== null) {
          await output.write(bytes);
        }
        pages.taken();
      } else if (step.type === "end") {
        await writeAll(encoder.end(recordFor(request.principal.role, step.exchange)));
        await output.write(
          Buffer.from(encoder.done === undefined ? "" : `data: ${encoder.done}\n\n`),
        );
        return "complete";
      } else {
        await writeAll(encoder.encode(step));
      }
    }
    return "aborted";
  });
  return reply;
}

/** The events that list the messages before an exchange, for a protocol that has such. */
async function readBefore(
  store: Store,
  { session_id, after_seq, ids }: Before,
  encoder: Encoder,
): Promise<{ readonly bytes: Buffer | null }> {
  if (encoder.begin === undefined) {
    return { bytes: null };
  }
  const place = { reference: session_id, all: false, before_seq: after_seq + 1 };
  const messages = await store.read(readMessagesWithin, { ...place, max_bytes: LISTED_BYTES });
  const known = await store.read(readClientIds, { session_id, ids, messages });
  return { bytes: bytesOf(encoder.begin(messages, known)) };
}

interface Before {
  readonly session_id: string;
  readonly after_seq: number;
  /** Ids of the messages that the client shows. */
  readonly ids: readonly string[];
}

function bytesOf(events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}
