import type { FastifyInstance } from "fastify";

import {
  LIVE_POLL_MS,
  STREAM_HEARTBEAT_MS,
  STREAM_POLL_MS,
  STREAM_STALL_MS,
  STREAM_UNSENT_BYTES,
} from "../core/limits.ts";
import type { ExchangeListener } from "../exchange/events.ts";
import { storeOf } from "../store/store-of.ts";
import { typed } from "./routes/api.ts";
import { accessListRoutes } from "./routes/access-list.ts";
import { artifactRoutes } from "./routes/artifacts/artifacts.ts";
import { compressAnswers, createCompressors, tagAnswers } from "./encoding.ts";
import { keptBytesIn } from "../workspace/undo/kept-bytes.ts";
import { createSchemas } from "./routes/artifacts/read-schemas.ts";
import { planRunRoutes } from "./routes/plan-runs/plan-runs.ts";
import { statsRoute } from "./routes/stats.ts";
import { changeRoutes } from "./routes/changes.ts";
import { createSessionRoute } from "./routes/sessions/create-session.ts";
import { deleteSessionRoute } from "./routes/sessions/delete-session.ts";
import { exportSessionRoute } from "./routes/sessions/export-session.ts";
import { exchangeRoutes } from "./routes/exchanges.ts";
import { questionRoutes } from "./routes/questions.ts";
import { endSessionRoute } from "./routes/sessions/end-session.ts";
import { forkSessionRoute } from "./routes/sessions/fork-session.ts";
import { healthRoutes } from "./routes/health.ts";
import type { AppOptions } from "./app-options.ts";
import { createFastify } from "./create-fastify.ts";
import { listMessagesRoute } from "./routes/sessions/list-messages.ts";
import { listReasoningRoute } from "./routes/sessions/list-reasoning.ts";
import { listSessionsRoute } from "./routes/sessions/list-sessions.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { createLargeReads } from "./guards/large-reads.ts";
import { mcpRoute } from "./routes/mcp.ts";
import { metricsRoute } from "./routes/metrics.ts";
import { instrumentedStore } from "./metrics/instrumented-store.ts";
import { openApiRoute } from "./routes/openapi.ts";
import { patchSessionRoute } from "./routes/sessions/patch-session.ts";
import { postMessageRoute } from "./routes/sessions/post-message.ts";
import { createLogins } from "./guards/logins.ts";
import { loginRoutes } from "./page/login-routes.ts";
import { shareRoutes } from "./routes/shares.ts";
import { createPublicPath } from "./guards/public-path.ts";
import { createReadiness } from "./metrics/readiness.ts";
import { readSessionRoute } from "./routes/sessions/read-session.ts";
import { logFailure } from "./metrics/request-log.ts";
import { sessionEventsRoute } from "./routes/sessions/session-events.ts";
import { searchRoute } from "./routes/search.ts";
import { queueRoute } from "./routes/queue.ts";
import { serviceRoutes } from "./routes/service.ts";
import { createEventStreams } from "./events/event-streams.ts";
import { createLiveStreams, type LiveStreams } from "./live/live-streams.ts";
import { readRunPhases } from "../plans/run-detail.ts";
import { NO_SOURCE } from "../exchange/live/live-source.ts";
import { liveSessionRoute } from "./routes/sessions/live-session.ts";
import { uiRoutes } from "./routes/ui.ts";
import { createSessionWatcher } from "../exchange/live/session-watcher.ts";
import { streamSessionRoute } from "./routes/sessions/stream-session.ts";
import { createStreams, type Streams } from "./stream/streams.ts";
import { verifySessionRoute } from "./routes/sessions/verify-session.ts";
import type { UnsentAnswers } from "./unsent/unsent-answers.ts";

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
  const observe = options.observe ?? metrics.observe;
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
  const live = createLiveStreams({ ...streaming, watcher, source, readPhases: readRunPhases });
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
  const { schemas, close: closeSchemas } = createSchemas(options);
  app.addHook("preClose", closeSchemas);
  await app.register(async (scope) => {
    await compressAnswers(scope, compressors);
    const api = typed(scope);
    const inTurn = createLargeReads(store, unsent);
    const kept = keptBytesIn(options.undoFolder);
    const { outputFolder = null, secrets } = options;
    const { folders = null, catalogue } = options;
    const checkPrice = catalogue?.checkPrice;
    const service = {
      store,
      publicPath,
      observe,
      kept,
      outputFolder,
      secrets,
      unsent,
      folders,
      checkPrice,
    };
    listSessionsRoute(api, service);
    createSessionRoute(api, service);
    readSessionRoute(api, service);
    patchSessionRoute(api, service);
    endSessionRoute(api, service);
    forkSessionRoute(api, service);
    deleteSessionRoute(api, service);
    exportSessionRoute(api, service, {
      inTurn,
      redact: options.redact,
      stallMs: options.stream?.stallMs,
    });
    verifySessionRoute(api, service, { inTurn });
    listMessagesRoute(api, service);
    listReasoningRoute(api, service);
    postMessageRoute(api, service);
    exchangeRoutes(api, service);
    questionRoutes(api, service);
    changeRoutes(api, service);
    statsRoute(api, store);
    planRunRoutes(api, service, { schemas, catalogue, runStart: options.runStart });
    serviceRoutes(api, store, catalogue);
    queueRoute(api, store);
    searchRoute(api, service, options.isSearchOn ?? (() => Promise.resolve(true)));
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
    artifactRoutes(typed(scope), schemas, unsent);
    openApiRoute(typed(scope));
  });
  if (options.mcp !== undefined) {
    const mcp = options.mcp(observe);
    mcpRoute(app, mcp);
    app.addHook("onClose", mcp.close);
  }
  if (options.page !== undefined) {
    const { pageRoutes } = await import("./page/files.ts");
    await pageRoutes(app, { folder: options.page, publicPath });
  }
  await app.ready();
  const countUse: ExchangeListener = (event) => {
    if (event.type === "usage") {
      observe({ kind: "usage", input: event.input_tokens, output: event.output_tokens });
    } else if (event.type === "notice" && event.about === "reasoning_dropped") {
      observe({ kind: "reasoning_dropped" });
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
