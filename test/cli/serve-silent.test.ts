import { expect, it } from "vitest";

import { createPostgres } from "../helpers/postgres.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openStream } from "../helpers/stream.ts";
import { startCuttingProxy } from "../helpers/postgres/cutting-proxy.ts";

it("[OPS-7] [OPS-14] a node whose database does not answer, but keeps its connections, still exits", async () => {
  await using database = await createPostgres();
  const proxy = await startCuttingProxy(database.url);
  const service = freshHome().start(["serve", "--port", "0", "--log"], {
    env: { REPRISE_DATABASE: proxy.url },
  });
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  const made = await fetch(`${url}/api/sessions`, { method: "POST" });
  const { id } = (await made.json()) as { id: string };
  const stream = await openStream(url, `/api/sessions/${id}/stream`);

  proxy.silence();
  const append = fetch(`${url}/api/sessions/${id}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"content":"hello?"}',
  }).then(
    ({ status }) => status,
    () => null,
  );
  expect((await fetch(`${url}/readyz`)).status).toBe(503);

  expect(await service.stop("SIGTERM")).toMatchObject({ code: 1, signal: null });

  expect(await stream.ended).toBe(false);
  // nobody knows what became of it, so nobody says that it was stored
  expect(await append).not.toBe(201);
  expect(service.stderr()).toMatch(/"event":"stopped","unfinished":true\}\n$/);
});
