import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { createHeartbeats, type HeartbeatTarget } from "../../src/http/stream/heartbeats.ts";
import { seededRandom } from "../helpers/random.ts";

const SILENCE_MS = 15_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A stream that notes when something was written to it, by a comment or by itself. */
function createStream({ chunkedEncoding = true } = {}) {
  const written = [Date.now()];
  const comments: number[] = [];
  const take = (expected: string) => (bytes: Buffer) => {
    expect(bytes.toString()).toBe(expected);
    written.push(Date.now());
    comments.push(Date.now() - written.at(-2)!);
  };
  const target: HeartbeatTarget & { writableLength: number } = {
    writableLength: 0,
    chunkedEncoding,
    socket: { write: take(chunkedEncoding ? "3\r\n:\n\n\r\n" : "never") },
    write: take(":\n\n"),
  };
  return { target, written, comments };
}

it("[HTTP-31] no stream is silent for more than 15 s, and none that wrote gets a comment too soon", () => {
  const random = seededRandom("heartbeats");
  const heartbeats = createHeartbeats(SILENCE_MS);
  const streams = Array.from({ length: 50 }, () => {
    vi.advanceTimersByTime(random() * 1000);
    const stream = createStream();
    heartbeats.begin(stream.target);
    return stream;
  });
  const end = Date.now() + 10 * 60_000;
  while (Date.now() < end) {
    vi.advanceTimersByTime(random() * 2000);
    const { written, target } = streams[Math.floor(random() * streams.length)]!;
    written.push(Date.now());
    heartbeats.begin(target);
  }
  for (const { written, comments, target } of streams) {
    const silences = [...written.slice(1), Date.now()].map(
      (moment, index) => moment - written[index]!,
    );
    expect(Math.max(...silences)).toBeLessThanOrEqual(SILENCE_MS);
    expect(comments.length).toBeGreaterThan(0);
    expect(Math.min(...comments)).toBeGreaterThan(SILENCE_MS * 0.95);
    heartbeats.end(target);
  }
});

it("[HTTP-31] all streams share one timer, which exists only while there is a stream", () => {
  const heartbeats = createHeartbeats(SILENCE_MS);
  expect(vi.getTimerCount()).toBe(0);
  const [one, other] = [createStream(), createStream({ chunkedEncoding: false })];
  heartbeats.begin(one.target);
  heartbeats.begin(other.target);
  expect(vi.getTimerCount()).toBe(1);
  heartbeats.end(one.target);
  vi.advanceTimersByTime(SILENCE_MS);
  expect(one.comments).toHaveLength(0);
  expect(other.comments).toHaveLength(1);
  heartbeats.end(other.target);
  vi.advanceTimersByTime(SILENCE_MS);
  expect(vi.getTimerCount()).toBe(0);

  heartbeats.begin(one.target);
  vi.advanceTimersByTime(2 * SILENCE_MS);
  expect(one.comments).toHaveLength(2);
});

it("[HTTP-31] a stream whose client has not taken all bytes gets no heartbeat until it has", () => {
  const { target, comments } = createStream();
  createHeartbeats(SILENCE_MS).begin(target);
  target.writableLength = 1;
  vi.advanceTimersByTime(4 * SILENCE_MS);
  expect(comments).toHaveLength(0);
  target.writableLength = 0;
  vi.advanceTimersByTime(SILENCE_MS);
  expect(comments).toHaveLength(1);
});
