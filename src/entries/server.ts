export { ERROR_CODES, type ErrorCode, RepriseError } from "../core/errors.ts";
export { type App, createApp } from "../http/app.ts";
export type { AppOptions } from "../http/app-options.ts";
export { type RunningServer, type ServerOptions, startServer } from "../http/serve.ts";
export type { OpenStore as Store } from "../store/store.ts";
export { openPostgresStore, openSqliteStore } from "./stores.ts";
