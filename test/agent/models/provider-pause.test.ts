import { expect, it } from "vitest";

import { createProviderPauses } from "../../../src/agent/models/provider-pause.ts";

const HOUR_MS = 3_600_000;

it("[RETRY-10] a long wait refuses others for 10 s, and again after the next refusal", async () => {
  let time = 5;
  const pauses = createProviderPauses(() => time);
  const over = () => pauses.over("model", undefined, () => {});
  const refusal = new Error("limited");
  pauses.keep("model", { ms: HOUR_MS, reason: "limited", refusal });
  time += 9_999;
  await expect(over()).rejects.toBe(refusal);
  time += 1;
  await over();
  // a shorter limit than the first one counts too: it is newer
  pauses.keep("model", { ms: HOUR_MS / 2, reason: "limited", refusal });
  await expect(over()).rejects.toBe(refusal);
  time += HOUR_MS / 2;
  await over();
});

it("[RETRY-15] a short wait holds until it is over", async () => {
  let time = 5;
  const pauses = createProviderPauses(() => time);
  const waits: number[] = [];
  pauses.keep("model", { ms: 1500, reason: "busy", refusal: null });
  await pauses.over("model", undefined, (ms) => {
    waits.push(ms);
    time += 1500;
  });
  expect(waits).toEqual([1500]);
});
