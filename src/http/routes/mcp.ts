import type { FastifyInstance, FastifySchema } from "fastify";
import { Type } from "typebox";

import { MAX_BODY_BYTES } from "../../core/limits.ts";
import type { AccessRole } from "../../core/principal.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import type { Observe } from "../observation.ts";
import { problems, REQUEST_ID } from "../responses.ts";
import { BODY_PROBLEMS } from "./api.ts";

/** A request of an MCP client that the gate let in. */
export interface McpRequest {
  readonly request: Request;
  /** The parsed body, any JSON. */
  readonly body: unknown;
  readonly role: AccessRole;
}

/** Answers MCP clients over HTTP; see `mcp-serve`. */
export interface McpAnswers {
  answer(given: McpRequest): Promise<Response>;
  close(): Promise<void>;
}

/** Makes what answers them; what happens in their calls is counted as in others. */
export type OpenMcp = (observe: Observe) => McpAnswers;

/** Statuses of refusals that the SDK answers with. */
const PROTOCOL_STATUSES: ReadonlySet<number> = new Set([400, 404, 406, 415]);

const schema: FastifySchema = {
  operationId: "callMcp",
  summary: "Answers a client of the Model Context Protocol, without a session",
  description:
    "Takes one JSON-RPC message of the protocol of 2026-07-28, or of the one before it. `tools/list` has the tools: those that read, and those that write if the service was started with `--mcp-write`. A call does what the caller may do over this API.",
  querystring: NoQuery,
  body: Type.Unsafe<unknown>({
    description: "A JSON-RPC 2.0 message.",
    type: ["object", "array", "string", "number", "boolean", "null"],
  }),
  response: {
    200: {
      description: "The JSON-RPC response; for the older protocol as one event of a stream.",
      headers: { "X-Request-Id": REQUEST_ID },
      content: {
        "application/json": { schema: { type: "object" } },
        "text/event-stream": { schema: { type: "string" } },
      },
    },
    202: { description: "The message was a notification: nothing answers it." },
    ...refusals(),
  },
};

/** The gate refuses with a problem; after it, the protocol has errors. */
function refusals(): Record<number, object> {
  const all = problems({
    ...BODY_PROBLEMS,
    404: "The message calls a method that does not exist.",
    406: "The client takes neither JSON nor events.",
  });
  const rpcError = { schema: { type: "object", description: "A JSON-RPC error." } };
  return Object.fromEntries(
    Object.entries(all).map(([status, answer]) => [
      status,
      PROTOCOL_STATUSES.has(Number(status))
        ? {
            ...answer,
            content: { ...Object(Reflect.get(answer, "content")), "application/json": rpcError },
          }
        : answer,
    ]),
  );
}

/** Headers of the client that say who it is: the gate has read them, and nobody else needs them. */
const PRIVATE: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

export function mcpRoute(app: FastifyInstance, { answer }: McpAnswers): void {
  app.route({
    method: "POST",
    url: "/mcp",
    schema,
    // each call of a tool is checked for what it needs
    config: { needs: "read" },
    bodyLimit: MAX_BODY_BYTES,
    handler: async ({ raw, body, principal }, reply) => {
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      const headers = new Headers();
      for (const [name, value] of Object.entries(raw.headers)) {
        if (value !== undefined && !PRIVATE.has(name)) {
          headers.set(name, String(value));
        }
      }
      const request = new Request("http://reprise.invalid/mcp", {
        method: "POST",
        headers,
        signal: gone.signal,
      });
      const answered = await answer({ request, body, role: principal.role });
      const type = answered.headers.get("content-type");
      if (type !== null) {
        reply.header("content-type", type);
      }
      // one answer follows, in whatever form: as a whole, so that nobody waits in the middle of it
      return reply.code(answered.status).send(await answered.text());
    },
  });
}
