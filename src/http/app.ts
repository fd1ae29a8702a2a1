import { randomUUID } from "node:crypto";

import { type FastifyInstance, fastify } from "fastify";

import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  LIVE_POLL_MS,
  MAX_HEADER_BYTES,
  MAX_SMALL_BODY_BYTES,
  REQUEST_TIMEOUT_MS,
  STREAM_HEARTBEAT_MS,
  STREAM_POLL_MS,
  STREAM_STALL_MS,
  STREAM_UNSENT_BYTES,
} from "../core/limits.ts";
import type { Catalogue } from "../rules/catalogue.ts";
import type { ExchangeListener } from "../exchange/events.ts";
import type { ServedFolders } from "../exchange/served-folders.ts";
import type { OpenStore, Store } from "../store/store.ts";
import { storeOf } from "../store/store-of.ts";
import { refuseUnknownRoutes } from "./guards/allowed-methods.ts";
import { typed } from "./routes/api.ts";
import { accessListRoutes } from "./routes/access-list.ts";
import { artifactRoutes } from "./routes/artifacts/artifacts.ts";
import { limitBodyMemory } from "./guards/body-budget.ts";
import { createClientErrors } from "./guards/client-error.ts";
import { compressAnswers, createCompressors, tagAnswers } from "./encoding.ts";
import type { Secrets } from "../core/secrets.ts";
import { keptBytesIn } from "../workspace/undo/kept-bytes.ts";
import { changeRoutes } from "./routes/changes.ts";
import { createSessionRoute } from "./routes/sessions/create-session.ts";
import { deleteSessionRoute } from "./routes/sessions/delete-session.ts";
import { exportSessionRoute } from "./routes/sessions/export-session.ts";
import { exchangeRoutes } from "./routes/exchanges.ts";
import { questionRoutes } from "./routes/questions.ts";
import { endSessionRoute } from "./routes/sessions/end-session.ts";
import { guard } from "./guards/guard.ts";
import { healthRoutes } from "./routes/health.ts";
import type { AllowedHosts } from "./guards/hosts.ts";
import { acceptOnlyJson } from "./guards/json-body.ts";
import { listMessagesRoute } from "./routes/sessions/list-messages.ts";
import { listSessionsRoute } from "./routes/sessions/list-sessions.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { createLargeReads } from "./guards/large-reads.ts";
import { metricsRoute } from "./routes/metrics.ts";
import type { Jobs, Observe } from "./observation.ts";
import { instrumentedStore } from "./metrics/instrumented-store.ts";
import { describeApi, openApiRoute } from "./routes/openapi.ts";
import { patchSessionRoute } from "./routes/sessions/patch-session.ts";
import { postMessageRoute } from "./routes/sessions/post-message.ts";
import { PROBLEM_TYPE, problemOf } from "./problem.ts";
import { createLogins, type Logins } from "./guards/logins.ts";
import { loginRoutes } from "./page/login-routes.ts";
import { shareRoutes } from "./routes/shares.ts";
import { createPublicPath, type PublicPathOptions } from "./guards/public-path.ts";
import { parseQuery } from "./guards/query.ts";
import { createReadiness } from "./metrics/readiness.ts";
import { readSessionRoute } from "./routes/sessions/read-session.ts";
import { type Log, logFailure, logRequests } from "./metrics/request-log.ts";
import { sessionEventsRoute } from "./routes/sessions/session-events.ts";
import { queueRoute } from "./routes/queue.ts";
import { serviceRoutes } from "./routes/service.ts";
import { createSerializerCompiler } from "./guards/serialization.ts";
import { sessionFirst } from "./guards/session-first.ts";
import { createEventStreams } from "./events/event-streams.ts";
import { createLiveStreams, type LiveStreams } from "./live/live-streams.ts";
import { type LiveSource, NO_SOURCE } from "../exchange/live/live-source.ts";
import { liveSessionRoute } from "./routes/sessions/live-session.ts";
import { uiRoutes } from "./routes/ui.ts";
import { createSessionWatcher } from "../exchange/live/session-watcher.ts";
import { streamSessionRoute } from "./routes/sessions/stream-session.ts";
import { createStreams, type Streams, type StreamSettings } from "./stream/streams.ts";
import { decodable } from "./guards/request-target.ts";
import { verifySessionRoute } from "./routes/sessions/verify-session.ts";
import { limitUnsent, type UnsentAnswers, type UnsentSettings } from "./unsent/unsent-answers.ts";
import { createValidatorCompiler } from "./guards/validation.ts";

export interface AppOptions extends PublicPathOptions {
  readonly store: OpenStore;
  /** The program's version, for the OpenAPI document. */
  readonly version: string;
  /** If set, every call but `/livez` and `/readyz` needs it as a bearer token. */
  readonly token?: string | undefined;
  /**
   * Without that one: a token that callers may have. Those without it reach the open calls only: what reads, what
   * stores messages that wait for a person's yes, and what creates and ends sessions.
   */
  readonly madeToken?: string | undefined;
  /** If set too, a caller may have this one instead, and then reads, but changes nothing. */
  readonly readToken?: string | undefined;
  /** If set too, `/metrics` also accepts this one: a metrics collector need not read sessions. */
  readonly metricsToken?: string | undefined;
  readonly hosts: AllowedHosts;
  /** Origins whose pages may use the service, as browsers write them; see `parseOrigins`. */
  readonly allowOrigins?: readonly string[] | undefined;
  /** A folder whose `.reprise/schemas/` are known too; none by default. */
  readonly project?: string | undefined;
  /** How long a check against a schema of that folder may take; `SCHEMA_CHECK_MS` by default. */
  readonly schemaCheckMs?: number | undefined;
  /** Default: the values of `core/limits.ts`. */
  readonly stream?: Partial<StreamSettings> | undefined;
  /** Default: the values of `core/limits.ts`. */
  readonly unsent?: Partial<UnsentSettings> | undefined;
  /** What the exchanges do that this process runs; without it, their text comes from the database. */
  readonly live?: LiveSource | undefined;
  /** How long an answer stays open at most after its login has ended; `LOGIN_CHECK_MS` by default. */
  readonly loginCheckMs?: number | undefined;
  readonly timeouts?: { readonly headersMs?: number; readonly requestMs?: number } | undefined;
  /** The exchanges that the process runs now, and how many it may; without it, no metrics of them. */
  readonly jobs?: (() => Jobs) | undefined;
  /** The folders in whose sessions the process runs exchanges; without it, those are run elsewhere. */
  readonly folders?: ServedFolders | undefined;
  /** What new sessions can name; without it, the service lists no personas and models. */
  readonly catalogue?: Catalogue | undefined;
  /** Keeps the bytes of files that tools changed: see `createKeptBytes`. None by default. */
  readonly undoFolder?: string | null | undefined;
  /** They are replaced in the diffs of changes; none by default. */
  readonly secrets?: Secrets | undefined;
  /** Keeps outputs of commands, which deleting a session deletes. None by default. */
  readonly outputFolder?: string | null | undefined;
  /** The folder of the built web page; without it, the service has no page. */
  readonly page?: string | undefined;
  /** The number of this process among those that share a port, for its metrics. */
  readonly process?: number | undefined;
  /** Receives one line a request, and the service's own failures. */
  readonly log?: Log | undefined;
}

/** With a store whose operations are known. */
interface ServiceOptions extends AppOptions {
  readonly store: Store;
}

export interface App {
  readonly fastify: FastifyInstance;
  readonly streams: Streams;
  readonly live: LiveStreams;
  readonly unsent: UnsentAnswers;
  /** Answers that are compressed now. */
  readonly compressed: number;
  /** Ends the answers of these and of the changes of all sessions; see `Streams`. */
  closeStreams(): Promise<void>;
  /** Counts what the exchanges use that the process runs. */
  readonly countUse: ExchangeListener;
  /** From now on `/readyz` fails: the service is about to stop. Everything else continues. */
  retire(): void;
}

/**
 * Makes the HTTP service on a store. It does not listen: see `startServer`. Closing it ends its
 * streams and leaves the store open.
 */
export async function createApp(given: AppOptions): Promise<App> {
  const options = { ...given, store: storeOf(given.store) };
  const log = options.log ?? (() => undefined);
  const onFailure = (error: unknown, id?: string): void => logFailure(log, error, id);
  const metrics = createMetrics(
    () => ({ ...options, streams, live, events, server: app.server }),
    onFailure,
  );
  const { observe } = metrics;
  const store = instrumentedStore(options.store, observe);
  const streaming = {
    store,
    pollMs: STREAM_POLL_MS,
    livePollMs: LIVE_POLL_MS,
    heartbeatMs: STREAM_HEARTBEAT_MS,
    unsentBytes: STREAM_UNSENT_BYTES,
    stallMs: STREAM_STALL_MS,
    ...options.stream,
    onFailure,
    observe,
  };
  const watcher = createSessionWatcher(streaming);
  const streams = createStreams({ ...streaming, watcher });
  const source = options.live ?? NO_SOURCE;
  const live = createLiveStreams({ ...streaming, watcher, source });
  const events = createEventStreams({ ...streaming, watcher });
  const closeStreams = async (): Promise<void> => {
    await Promise.all([streams.close(), live.close(), events.close()]);
  };
  const readiness = createReadiness(store, { log, observe });
  const publicPath = createPublicPath(options);
  const logins = createLogins({
    ...options,
    store,
    publicPath,
    token: options.token ?? options.madeToken,
    readToken: options.readToken,
    trustProxy: options.trustProxy === true,
    checkMs: options.loginCheckMs,
    onFailure,
  });
  const { app, unsent } = await createFastify(options, { log, observe, logins });
  app.addHook("preClose", async () => {
    readiness.retire();
    await closeStreams();
    watcher.close();
  });
  app.addHook("onClose", async () => metrics.close());
  // so that no request waits while it is loaded
  app.server.once("listening", metrics.start);
  const compressors = createCompressors();
  await app.register(async (scope) => {
    await compressAnswers(scope, compressors);
    const api = typed(scope);
    const inTurn = createLargeReads(store, unsent);
    const kept = keptBytesIn(options.undoFolder);
    const { outputFolder = null, secrets } = options;
    const { folders = null } = options;
    const service = { store, publicPath, observe, kept, outputFolder, secrets, unsent, folders };
    listSessionsRoute(api, service);
    createSessionRoute(api, service);
    readSessionRoute(api, service);
    patchSessionRoute(api, service);
    endSessionRoute(api, service);
    deleteSessionRoute(api, service);
    exportSessionRoute(api, service, { inTurn, stallMs: options.stream?.stallMs });
    verifySessionRoute(api, service, { inTurn });
    listMessagesRoute(api, service);
    postMessageRoute(api, service);
    exchangeRoutes(api, service);
    questionRoutes(api, service);
    changeRoutes(api, service);
    serviceRoutes(api, store, options.catalogue);
    queueRoute(api, store);
    healthRoutes(api, readiness);
    metricsRoute(api, metrics);
    streamSessionRoute(api, service, streams);
    liveSessionRoute(api, service, live);
    sessionEventsRoute(api, service, events);
    uiRoutes(api, { ...service, live });
    shareRoutes(api, service);
    accessListRoutes(api, store);
    const trustProxy = options.trustProxy === true;
    loginRoutes(api, { logins, publicPath, trustProxy, version: options.version });
  });
  await app.register(async (scope) => {
    // tagged before it is compressed: both forms of an answer have one tag
    await tagAnswers(scope);
    await compressAnswers(scope, compressors);
    artifactRoutes(typed(scope), options, unsent);
    openApiRoute(typed(scope));
  });
  if (options.page !== undefined) {
    const { pageRoutes } = await import("./page/files.ts");
    await pageRoutes(app, { folder: options.page, publicPath });
  }
  await app.ready();
  const countUse: ExchangeListener = (event) => {
    if (event.type === "usage") {
      observe({ kind: "usage", input: event.input_tokens, output: event.output_tokens });
    }
  };
  return {
    fastify: app,
    streams,
    live,
    unsent,
    get compressed() {
      return compressors.running;
    },
    closeStreams,
    countUse,
    retire: readiness.retire,
  };
}

async function createFastify(
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
