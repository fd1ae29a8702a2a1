import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseThreadId, threadId } from "../../src/core/threads.ts";

const sessionId = "0a1b2c3d-0000-4000-8000-00000000000f";

describe("threads", () => {
  it("are named after their session and suffix", () => {
    expect(threadId(sessionId, 0)).toBe(`${sessionId}:0`);
    expect(threadId(sessionId, 12)).toBe(`${sessionId}:12`);
  });

  it("are read back from their names", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 0, max: 999_999_999 }), (id, suffix) => {
        expect(parseThreadId(threadId(id, suffix))).toEqual({ sessionId: id, suffix });
      }),
    );
  });

  it.each([
    "",
    sessionId,
    `${sessionId}:`,
    `${sessionId}:01`,
    `${sessionId}:-1`,
    `${sessionId}:1.5`,
    `${sessionId}:1x`,
    `${sessionId}:1\n`,
    `x${sessionId}:1`,
    `${sessionId}:1:2`,
    `${sessionId}:1000000000`,
    `${sessionId.toUpperCase()}:1`,
  ])("of no session: %j", (id) => {
    expect(parseThreadId(id)).toBeNull();
  });
});
