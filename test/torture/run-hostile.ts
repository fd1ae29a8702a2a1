import assert from "node:assert/strict";
import { join } from "node:path";

import { ANY_MARKER, sendHostileRequests } from "./hostile.ts";
import type { TortureOptions } from "./main.ts";
import { startService, tortureFolder } from "./service.ts";

/** Hostile requests over real sockets to the real service; its log is read too. */
export async function run({ size = 20_000, seed }: TortureOptions): Promise<void> {
  using folder = tortureFolder();
  await using service = await startService({
    database: join(folder.path, "reprise.db"),
    args: ["--log"],
  });
  const begun = performance.now();
  const { requests, statuses } = await sendHostileRequests({
    url: service.url,
    requests: size,
    ...(seed === undefined ? {} : { seed }),
  });
  const seconds = (performance.now() - begun) / 1000;
  await service.stop();
  assert.doesNotMatch(service.log(), ANY_MARKER);
  assert.doesNotMatch(service.log(), /"event":"failure"/);
  console.log(
    `hostile: ${requests} requests in ${seconds.toFixed(1)} s, none of them 5xx; statuses ${JSON.stringify(statuses)}`,
  );
}
