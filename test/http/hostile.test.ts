import { join } from "node:path";

import { expect, it } from "vitest";

import { testSize } from "../helpers/size.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { ANY_MARKER, sendHostileRequests } from "../torture/hostile.ts";
import { startService } from "../torture/service.ts";

const REQUESTS = testSize("hostile");
/** What one random request in a hundred, or more, is answered with. */
const COMMON = [200, 201, 204, 400, 403, 404, 405, 415, 422, 431];

it("[HTTP-50] hostile requests cause no 5xx, and no answer or log line repeats any of them", async () => {
  await using service = await startService({
    database: join(temporaryFolder(), "reprise.db"),
    args: ["--log"],
  });
  const { requests, statuses } = await sendHostileRequests({
    url: service.url,
    requests: REQUESTS,
  });
  expect(requests).toBeGreaterThanOrEqual(REQUESTS);
  // one example for each status was sent; the random ones get everywhere, too, once they are many
  for (const status of REQUESTS < 5000 ? [] : COMMON) {
    expect(statuses[status], `answers with ${status}`).toBeGreaterThan(0);
  }
  await service.stop();
  expect(service.log()).not.toMatch(ANY_MARKER);
  expect(service.log()).not.toContain('"event":"failure"');
  const lines = service.log().trim().split("\n");
  const events = lines.map((line) => String(JSON.parse(line).event));
  expect(events.filter((event) => event !== "request")).toEqual(["started", "stopping", "stopped"]);
  expect(lines.length).toBeGreaterThan(REQUESTS / 2);
});
