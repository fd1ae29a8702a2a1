import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createPostgres } from "../helpers/postgres.ts";
import { testLevel, testSize } from "../helpers/size.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { ANY_MARKER, sendHostileRequests } from "../torture/hostile.ts";
import { startService } from "../torture/service.ts";

/** For each of the services. */
const REQUESTS = testSize("hostile") / 3;
/** What one random request in a hundred, or more, is answered with. */
const COMMON = [200, 201, 204, 400, 403, 404, 405, 415, 422, 431];

const SERVICES = [
  { with: "with a token, running what is queued", token: "a-token", isPostgres: false },
  { with: "without a token", token: undefined, isPostgres: false },
  { with: "with a token, on PostgreSQL", token: "a-token", isPostgres: true },
];

it.each(testLevel() === "test" ? SERVICES.slice(0, 1) : SERVICES)(
  "[HTTP-50] hostile requests cause no 5xx, and no answer or log line repeats any of them, $with",
  async ({ token, isPostgres }) => {
    await using postgres = isPostgres ? await createPostgres() : null;
    const folder = temporaryFolder();
    const tokenFile = join(folder, "token");
    writeFileSync(tokenFile, token ?? "");
    await using service = await startService({
      database: postgres?.url ?? join(folder, "reprise.db"),
      // whether the page is built is a matter of the checkout; test/http/page asks for its files
      args: ["--log", "--no-page", ...(token === undefined ? [] : ["--token-file", tokenFile])],
    });
    const { requests, statuses } = await sendHostileRequests({
      url: service.url,
      requests: REQUESTS,
      ...(token === undefined ? {} : { token }),
    });
    expect(requests).toBeGreaterThanOrEqual(REQUESTS);
    // one example for each status was sent; the random ones get everywhere, too, once they are many
    const common = token === undefined ? COMMON : [...COMMON, 409];
    for (const status of REQUESTS < 5000 ? [] : common) {
      expect(statuses[status], `answers with ${status}`).toBeGreaterThan(0);
    }
    await service.stop();
    expect(service.log()).not.toMatch(ANY_MARKER);
    expect(service.log()).not.toContain('"event":"failure"');
    const lines = service.log().trim().split("\n");
    const events = lines.map((line) => String(JSON.parse(line).event));
    expect(events.filter((event) => event !== "request")).toEqual([
      "started",
      "stopping",
      "stopped",
    ]);
    expect(lines.length).toBeGreaterThan(REQUESTS / 2);
  },
);
