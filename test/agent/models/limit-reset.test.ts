import { expect, it } from "vitest";

import { resetOf } from "../../../src/agent/models/limit-reset.ts";

const NOW = Date.parse("2026-11-26T14:00:00.000Z");

it.each<readonly [string, Record<string, string>, string | null]>([
  ["nothing", {}, null],
  [
    "Anthropic's limit that is used up, and not one that is over later",
    {
      "anthropic-ratelimit-requests-remaining": "10",
      "anthropic-ratelimit-requests-reset": "2026-11-26T15:00:00Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-11-26T14:05:00Z",
    },
    "2026-11-26T14:05:00.000Z",
  ],
  [
    "the last of two that are used up",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1m30.5s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "120ms",
    },
    "2026-11-26T14:01:30.500Z",
  ],
  [
    "seconds since 1970, without what remains",
    { "anthropic-ratelimit-unified-reset": String(NOW / 1000 + 3600) },
    "2026-11-26T15:00:00.000Z",
  ],
  [
    "limits of which something is left",
    { "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "6m0s" },
    null,
  ],
  ["a duration without a unit", { "x-ratelimit-reset-requests": "7" }, "2026-11-26T14:00:07.000Z"],
  ["nonsense", { "x-ratelimit-reset-requests": "soon" }, null],
  ["a time that is over", { "anthropic-ratelimit-tokens-reset": "2026-11-26T13:00:00Z" }, null],
  ["a time next year", { "anthropic-ratelimit-tokens-reset": "2027-11-26T13:00:00Z" }, null],
])("[LIMITED-7] the end of a limit is read from %s", (_, headers, time) => {
  const at = resetOf(new Headers(headers), NOW);
  expect(at === null ? null : new Date(at).toISOString()).toBe(time);
});
