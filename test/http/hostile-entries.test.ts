import { expect, it } from "vitest";

import { routesOfService } from "../helpers/routes-of-service.ts";
import { HOSTILE_ENTRIES } from "../torture/hostile-entries.ts";

it("[HTTP-220] every route has an entry among the hostile requests", async () => {
  // the command line adds the one for MCP
  const routes = [...(await routesOfService()), "POST /mcp"];
  const isExtra = (route: string): boolean => /^(HEAD|OPTIONS) /.test(route);
  expect(Object.keys(HOSTILE_ENTRIES).toSorted()).toEqual(
    [...new Set(routes.filter((route) => !isExtra(route)))].toSorted(),
  );
});
