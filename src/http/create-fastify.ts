import { randomUUID } from "node:crypto";
import { type FastifyInstance, fastify } from "fastify";
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  MAX_HEADER_BYTES,
  MAX_SMALL_BODY_BYTES,
  REQUEST_TIMEOUT_MS,
} from "../core/limits.ts";
import { refuseUnknownRoutes } from "./guards/allowed-methods.ts";
import { limitBodyMemory } from "./guards/body-budget.ts";
import { createClientErrors } from "./guards/client-error.ts";
import { guard } from "./guards/guard.ts";
import { acceptOnlyJson } from "./guards/json-body.ts";
import type { Observe } from "./observation.ts";
import { describeApi } from "./routes/openapi.ts";
import { PROBLEM_TYPE, problemOf } from "./problem.ts";
import type { Logins } from "./guards/logins.ts";
import { parseQuery } from "./guards/query.ts";
import { type Log, logFailure, logRequests } from "./metrics/request-log.ts";
import { createSerializerCompiler } from "./guards/serialization.ts";
import { sessionFirst } from "./guards/session-first.ts";
import { decodable } from "./guards/request-target.ts";
import { limitUnsent, type UnsentAnswers } from "./unsent/unsent-answers.ts";
import { createValidatorCompiler } from "./guards/validation.ts";
import type { ServiceOptions } from "./app-options.ts";

/** Makes the Fastify application with everything that a request meets before its route. */
export async function createFastify(
  options: ServiceOptions,
  {
    log,
    observe,
    logins,
  }: { readonly log: Log; readonly observe: Observe; readonly logins: Logins },
): Promise<{ readonly app: FastifyInstance; readonly unsent: UnsentAnswers }> {
  const clientErrors = createClientErrors(observe);
  const headersTimeout = options.timeouts?.headersMs ?? HEADERS_TIMEOUT_MS;
  const app = fastify({
    logger: false,
    bodyLimit: MAX_SMALL_BODY_BYTES,
    requestTimeout: options.timeouts?.requestMs ?? REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      headersTimeout,
      maxHeaderSize: MAX_HEADER_BYTES,
      // the gate checks it: Node.js would answer without a problem document
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
    },
    // the client's own request id is not taken: it would be echoed
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    clientErrorHandler: clientErrors.handler,
    // the router refuses paths that it cannot decode, or that are too long, before any hook: the
    // gate and the log would miss them
    rewriteUrl: ({ url = "" }) => decodable(url),
    routerOptions: { querystringParser: parseQuery, maxParamLength: 3 * MAX_HEADER_BYTES },
  });
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(createSerializerCompiler(app));
  app.setErrorHandler(async (thrown, request, reply) => {
    const error = await sessionFirst(thrown, request, options.store);
    if (problemOf(error).status >= 500 && request.routeOptions.config.logsItself !== true) {
      logFailure(log, error, request.id);
    }
    const { status, headers, body } = problemOf(error);
    return reply.code(status).headers(headers).type(PROBLEM_TYPE).send(body);
  });
  // bounded by their bytes: beyond Node.js' own count, headers would be dropped without a word
  app.server.maxHeadersCount = 0;
  clientErrors.follow(app.server);
  const unsent = limitUnsent(app, options.unsent);
  logRequests(app, { log, observe });
  await guard(app, options, logins);
  refuseUnknownRoutes(app);
  acceptOnlyJson(app);
  limitBodyMemory(app);
  await describeApi(app, options);
  return { app, unsent };
}
