import swagger, { type FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import type { FastifyInstance, FastifySchema, RouteOptions } from "fastify";
import { Type } from "typebox";

import {
  CreateShareRequest,
  LoginRequest,
  AccessInfo,
  NewShareInfo,
  ShareInfo,
  Whoami,
} from "../../core/schemas/access-schemas.ts";
import { PatchSessionRequest } from "../../core/schemas/patch-session.ts";
import { LiveSnapshot } from "../../core/schemas/live.ts";
import {
  ExchangeChangesInfo,
  FileChangeInfo,
  FileOutcome,
  UndoInfo,
  UndoRequest,
} from "../../core/schemas/file-change-schemas.ts";
import {
  CreatePlanRunRequest,
  ResumePlanRunRequest,
} from "../../core/schemas/plan-run-requests.ts";
import { RunDetail, RunPhase, RunSummary } from "../../core/schemas/plan-run-schemas.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import {
  AnswerRequest,
  CreateSessionRequest,
  DeletedSession,
  EndSessionRequest,
  ForkSessionRequest,
  ExchangeDetail,
  ExchangeInfo,
  ListedExchange,
  MessageInfo,
  PostMessageRequest,
  Problem,
  QuestionInfo,
  QueuedExchangeInfo,
  QueueExchangeRequest,
  ReasoningInfo,
  SessionAck,
  SessionDetail,
  SessionSummary,
} from "../../core/schemas/schemas.ts";
import {
  DoctorReport,
  ModelInfo,
  NodeInfo,
  WaitingInfo,
  PersonaInfo,
  VerificationInfo,
} from "../../core/schemas/service-schemas.ts";
import { StatInfo } from "../../core/schemas/stats-schemas.ts";
import { UsageInfo } from "../../core/schemas/usage-schemas.ts";
import { type Api, BODY_PROBLEMS } from "./api.ts";
import { mayCall, needOf } from "../guards/needs.ts";
import { json, JSON_TYPE, NOT_MODIFIED, problems } from "../responses.ts";

export interface ApiDescription {
  readonly version: string;
  readonly token?: string | undefined;
  readonly madeToken?: string | undefined;
  readonly publicPath?: string | undefined;
}

/** The groups of calls, by the beginning of their paths; the last one has the rest. */
const TAGS = [
  {
    name: "sessions",
    path: /^\/api\/(sessions|events)/,
    description: "Conversations and their messages.",
  },
  {
    name: "plan-runs",
    path: /^\/api\/plan-runs/,
    description: "Phase plans that are run.",
  },
  { name: "page", path: /^\/page\//, description: "Logins of the service's own page." },
  { name: "artifacts", path: /^\/api\/artifacts/, description: "Schemas, and validation by them." },
  { name: "service", path: /^\//, description: "The service itself." },
] as const;

/** Registers the named schemas and collects the routes that are added after it. */
export async function describeApi(
  app: FastifyInstance,
  { version, token, madeToken, publicPath = "" }: ApiDescription,
): Promise<void> {
  for (const schema of [
    SessionSummary,
    MessageInfo,
    ReasoningInfo,
    SessionDetail,
    SessionAck,
    DeletedSession,
    UsageInfo,
    StatInfo,
    ExchangeInfo,
    ListedExchange,
    ExchangeDetail,
    QueuedExchangeInfo,
    QuestionInfo,
    VerificationInfo,
    NodeInfo,
    WaitingInfo,
    DoctorReport,
    PersonaInfo,
    ModelInfo,
    Problem,
    CreateSessionRequest,
    PostMessageRequest,
    EndSessionRequest,
    ForkSessionRequest,
    QueueExchangeRequest,
    AnswerRequest,
    PatchSessionRequest,
    LiveSnapshot,
    ExchangeChangesInfo,
    FileChangeInfo,
    FileOutcome,
    UndoInfo,
    UndoRequest,
    LoginRequest,
    Whoami,
    CreateShareRequest,
    NewShareInfo,
    ShareInfo,
    AccessInfo,
    RunSummary,
    RunPhase,
    RunDetail,
    CreatePlanRunRequest,
    ResumePlanRunRequest,
  ]) {
    app.addSchema(schema);
  }
  const mayOmit = token === undefined && madeToken !== undefined;
  const withProblems = keepProblemsForDocument(app);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.1",
      info: {
        title: "Reprise",
        description: "Long conversations with an agent: sessions and their messages.",
        version,
        contact: { name: "Reprise" },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: publicPath === "" ? "/" : publicPath, description: "This service." }],
      tags: TAGS.map(({ name, description }) => ({ name, description })),
      ...(token === undefined && !mayOmit
        ? { security: [] }
        : {
            components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
            security: mayOmit ? [{}, { token: [] }] : [{ token: [] }],
          }),
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: {
        ...withNumber(withBodyProblems(route, withProblems(route, schema))),
        tags: [TAGS.find(({ path }) => path.test(url))?.name ?? "service"],
        ...(needOf(route) === "nothing" ? { security: [] } : {}),
        ...(mayOmit && !mayCall("guest", route) ? { security: [{ token: [] }] } : {}),
      },
    }),
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, index) =>
        typeof json["$id"] === "string" ? json["$id"] : `schema-${index}`,
    },
    transformObject: (document) => {
      if ("openapiObject" in document) {
        markOptionalBodies(document.openapiObject);
        return document.openapiObject;
      }
      return document.swaggerObject;
    },
  });
}

/**
 * Takes the problem responses out of the routes that are added after it, and returns a function that
 * puts them back for the document. Fastify compiles a serializer for each response of each route,
 * which took most of the time of a start; a problem needs none, because `problemOf` writes its body.
 */
function keepProblemsForDocument(app: FastifyInstance) {
  const responses = new WeakMap<RouteOptions, Readonly<Record<string, unknown>>>();
  app.addHook("onRoute", (route) => {
    const response = route.schema?.response;
    if (typeof response !== "object" || response === null) {
      return;
    }
    responses.set(route, { ...response });
    const answers = Object.entries(response).filter(([status]) => Number(status) < 400);
    route.schema = { ...route.schema, response: Object.fromEntries(answers) };
  });
  return (route: RouteOptions, schema: FastifySchema): FastifySchema => {
    const response = responses.get(route);
    return response === undefined ? schema : { ...schema, response };
  };
}

/** A body is read before the call says that it takes none. */
function withBodyProblems({ method }: RouteOptions, schema: FastifySchema): FastifySchema {
  const takesBody = ["POST", "PATCH", "DELETE"].some((one) => [method].flat().includes(one));
  return takesBody
    ? { ...schema, response: { ...problems(BODY_PROBLEMS), ...responsesOf(schema) } }
    : schema;
}

function responsesOf({ response }: FastifySchema): object {
  return typeof response === "object" && response !== null ? response : {};
}

/** The path parameter `n` is read as text, so that another text than a number gives 404. */
function withNumber(schema: FastifySchema): FastifySchema {
  const { params } = schema;
  if (!isObjectSchema(params) || params.properties["n"] === undefined) {
    return schema;
  }
  const n = { ...params.properties["n"], type: "integer", minimum: 1 };
  return { ...schema, params: { ...params, properties: { ...params.properties, n } } };
}

function isObjectSchema(
  schema: unknown,
): schema is { readonly properties: Readonly<Record<string, object>> } {
  return typeof schema === "object" && schema !== null && "properties" in schema;
}

export function openApiRoute(app: Api): void {
  const document = Type.Unsafe<Buffer>(Type.Record(Type.String(), Type.Unknown()));
  let text: Buffer | undefined;
  app.route({
    method: "GET",
    url: "/openapi.json",
    schema: {
      operationId: "describe",
      summary: "This document",
      description: "OpenAPI 3.1, made from the schemas that requests are checked with.",
      querystring: NoQuery,
      response: {
        200: json(document, { description: "OpenAPI 3.1." }),
        ...NOT_MODIFIED,
        ...problems(),
      },
    },
    handler: async (_request, reply) => {
      // all answers share it
      text ??= Buffer.from(JSON.stringify(app.swagger()));
      return reply.type(JSON_TYPE).send(text);
    },
  });
}

type Document = Parameters<NonNullable<FastifyDynamicSwaggerOptions["transformObject"]>>[0];
type OpenApi = Extract<Document, { openapiObject: unknown }>["openapiObject"];

/** A body that may be empty may be left out. */
function markOptionalBodies({ paths, components }: OpenApi): void {
  for (const path of Object.values(paths ?? {})) {
    for (const body of [path?.post?.requestBody, path?.patch?.requestBody]) {
      if (body === undefined || !("content" in body)) {
        continue;
      }
      const schema = body.content["application/json"]?.schema ?? {};
      const name = "$ref" in schema ? schema.$ref.replace(/^.*\//, "") : "";
      const fields = name === "" ? schema : (components?.schemas?.[name] ?? {});
      body.required = "required" in fields || "minProperties" in fields;
    }
  }
}
