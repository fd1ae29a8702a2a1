import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";

import {
  CreateSessionRequest,
  EndSessionRequest,
  MessageInfo,
  PostMessageRequest,
  Problem,
  SessionAck,
  SessionDetail,
  SessionSummary,
} from "../core/schemas.ts";
import type { Api } from "./app.ts";

/** Registers the named schemas and collects the routes that are added after it. */
export async function describeApi(
  app: FastifyInstance,
  { version, token }: { readonly version: string; readonly token?: string | undefined },
): Promise<void> {
  for (const schema of [
    SessionSummary,
    MessageInfo,
    SessionDetail,
    SessionAck,
    Problem,
    CreateSessionRequest,
    PostMessageRequest,
    EndSessionRequest,
  ]) {
    app.addSchema(schema);
  }
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.1",
      info: {
        title: "Reprise",
        description: "Long conversations with an agent: sessions and their messages.",
        version,
      },
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
      security: token === undefined ? [] : [{ token: [] }],
    },
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, index) =>
        typeof json["$id"] === "string" ? json["$id"] : `schema-${index}`,
    },
  });
}

export function openApiRoute(app: Api): void {
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}
