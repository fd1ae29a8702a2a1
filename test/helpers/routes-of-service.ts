import { subscribe, unsubscribe } from "node:diagnostics_channel";

import type { FastifyInstance } from "fastify";

import { startTestServer } from "./server.ts";

/** Every route of the service, as `GET /api/sessions/{id}`. */
export async function routesOfService(): Promise<string[]> {
  const routes: string[] = [];
  const onCreated = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook("onRoute", ({ method, url }) => {
      const path = url.replaceAll(/:(\w+)/g, "{$1}");
      routes.push(...[method].flat().map((each) => `${each} ${path}`));
    });
  };
  subscribe("fastify.initialization", onCreated);
  try {
    await using _server = await startTestServer({ token: "a-token" });
  } finally {
    unsubscribe("fastify.initialization", onCreated);
  }
  return routes;
}
