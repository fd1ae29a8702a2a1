import { subscribe, unsubscribe } from "node:diagnostics_channel";

import type { FastifyInstance } from "fastify";
import { expect, it } from "vitest";

import { startTestServer } from "../helpers/server.ts";
import { HOSTILE_ENTRIES } from "../torture/hostile-entries.ts";

/** Every route of the service, as `GET /api/sessions/{id}`. */
async function routesOfService(): Promise<string[]> {
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

it("[HTTP-220] every route has an entry among the hostile requests", async () => {
  const routes = await routesOfService();
  const isExtra = (route: string): boolean => /^(HEAD|OPTIONS) /.test(route);
  expect(Object.keys(HOSTILE_ENTRIES).toSorted()).toEqual(
    [...new Set(routes.filter((route) => !isExtra(route)))].toSorted(),
  );
});
