import { expect, it } from "vitest";

import { type Followed, followExchange } from "../../../src/core/live/follow-exchange.ts";
import type { LiveEvent } from "../../../src/core/schemas/live.ts";
import type { ExchangeInfo } from "../../../src/core/schemas/schemas.ts";
import { exchangeInfo, messageEvent } from "../../helpers/live-events.ts";

const now = (data: ExchangeInfo): LiveEvent => ({ id: "", event: "exchange", data });
const begun = { first_seq: 1, last_seq: null };
const QUEUED = { ...exchangeInfo(1, "queued"), first_seq: null, last_seq: null };
const RUNNING = { ...exchangeInfo(1, "running"), ...begun };
const INTERRUPTED = { ...exchangeInfo(1, "interrupted"), ...begun, queued_at: null };
const DONE = { ...exchangeInfo(1, "done"), first_seq: 1, last_seq: 2 };

/** What a reader is shown of exchange 1, whose record has one value after the other; the last one stays. */
async function shown(
  records: readonly ExchangeInfo[],
  events: readonly LiveEvent[],
  followed: Partial<Followed> = {},
) {
  const left = [...records];
  const steps: string[] = [];
  const reads = {
    read: async () => (left.length > 1 ? left.shift()! : left[0]!),
    live: async function* () {
      yield* events;
    },
  };
  for await (const step of followExchange(reads, { n: 1, ...followed })) {
    steps.push(
      step.event === "message"
        ? `message ${step.data.seq}`
        : step.event === "over"
          ? `over: ${step.exchange.state}`
          : step.event,
    );
  }
  return steps;
}

it("[LIVE-70] shows an exchange from its first message to its last, and nothing of the next one", async () => {
  const events = [
    messageEvent(1, "user"),
    messageEvent(2, "assistant"),
    messageEvent(3, "user"),
    messageEvent(4, "assistant"),
  ];
  expect(await shown([RUNNING, DONE], events)).toEqual([
    "begun",
    "message 1",
    "message 2",
    "over: done",
  ]);
});

it("[LIVE-72] waits for the turn of an exchange, and ends with one that never began", async () => {
  const stopped = { ...QUEUED, state: "stopped" } as const;
  const events = [now(QUEUED)];
  expect(await shown([QUEUED, QUEUED, stopped], events)).toEqual([
    "queued",
    "queued",
    "over: stopped",
  ]);
  const done = [now(RUNNING), messageEvent(1, "user"), messageEvent(2, "assistant"), now(DONE)];
  expect(await shown([QUEUED, RUNNING, DONE], done)).toEqual([
    "queued",
    "begun",
    "exchange",
    "message 1",
    "message 2",
    "exchange",
    "over: done",
  ]);
});

it("[LIVE-71] [CLI-179] ends when only a person can continue the exchange, or waits for that person", async () => {
  const events = [
    messageEvent(1, "user"),
    now(INTERRUPTED),
    now(RUNNING),
    messageEvent(2, "assistant"),
    now(DONE),
  ];
  const records = [RUNNING, INTERRUPTED, INTERRUPTED];
  expect(await shown(records, events)).toEqual([
    "begun",
    "message 1",
    "exchange",
    "over: interrupted",
  ]);
  const continued = [RUNNING, INTERRUPTED, DONE];
  expect(await shown(continued, events, { outlastsInterruption: true })).toEqual([
    "begun",
    "message 1",
    "exchange",
    "exchange",
    "message 2",
    "exchange",
    "over: done",
  ]);
});
