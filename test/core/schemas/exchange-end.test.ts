import { expect, it } from "vitest";

import { createExchangeEnd, isAtWork } from "../../../src/core/schemas/exchange-end.ts";
import type { LiveEvent } from "../../../src/core/schemas/live.ts";
import type { ExchangeInfo } from "../../../src/core/schemas/schemas.ts";
import { exchangeInfo, messageEvent } from "../../helpers/live-events.ts";

const now = (data: ExchangeInfo): LiveEvent => ({ id: "", event: "exchange", data });

/** The positions of the messages that belong to exchange 1, whose record is read when the events may end it. */
function follow(events: readonly LiveEvent[], record: Partial<ExchangeInfo>) {
  const end = createExchangeEnd(1, 0);
  const seqs: number[] = [];
  for (const event of events) {
    if (end.mayBeOver(event)) {
      end.update({ ...exchangeInfo(1, "done"), ...record });
    }
    if (event.event === "message" && !end.isAfter(event)) {
      seqs.push(event.data.seq);
    }
    if (end.isOver) {
      return { seqs, isOver: true };
    }
  }
  return { seqs, isOver: false };
}

it("[LIVE-70] an exchange ends with its last message, in whatever order the events come", () => {
  const user = messageEvent(1, "user");
  const answer = messageEvent(2, "assistant");
  const next = [messageEvent(3, "user"), messageEvent(4, "assistant")];
  const record = { last_seq: 2 };
  const whole = { seqs: [1, 2], isOver: true };
  expect(follow([user, answer, now(exchangeInfo(1, "done"))], record)).toEqual(whole);
  // the next one is shown before the last message
  expect(follow([user, now(exchangeInfo(2, "running")), answer, ...next], record)).toEqual(whole);
  // both were over before the reader asked again
  expect(follow([user, answer, ...next, now(exchangeInfo(2, "done"))], record)).toEqual(whole);
});

it("[LIVE-70] a message of another caller does not end an exchange that runs", () => {
  const events = [
    messageEvent(1, "user"),
    messageEvent(2, "assistant"),
    messageEvent(3, "user"),
    messageEvent(4, "assistant"),
  ];
  const running = exchangeInfo(1, "running");
  expect(follow(events, running)).toEqual({ seqs: [1, 2, 3, 4], isOver: false });
  const waiting = follow([...events, now(exchangeInfo(1, "waiting"))], exchangeInfo(1, "waiting"));
  expect(waiting).toEqual({ seqs: [1, 2, 3, 4], isOver: true });
});

it("[LIVE-70] an exchange that stored nothing is over at once", () => {
  expect(follow([now(exchangeInfo(1, "stopped"))], { last_seq: null }).isOver).toBe(true);
});

it("[LIVE-71] only what a node continues by itself is still running after its process died", () => {
  const queued_at = "2026-01-01T00:00:00.000Z";
  expect(isAtWork({ state: "interrupted", queued_at })).toBe(true);
  expect(isAtWork({ state: "interrupted", queued_at: null })).toBe(false);
  expect(isAtWork({ state: "waiting", queued_at })).toBe(false);
});
