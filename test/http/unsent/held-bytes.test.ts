import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { PassThrough } from "node:stream";

import { describe, expect, it } from "vitest";

import { HeldBytes } from "../../../src/http/unsent/held-bytes.ts";

const KIB = 1024;

/** An answer whose head was sent. */
function answer(): ServerResponse {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.writeHead(200);
  response.flushHeaders();
  return response;
}

/** Bytes of 100 KiB at most. */
function heldBytes() {
  const cut: ServerResponse[] = [];
  return { held: new HeldBytes(100 * KIB, (response) => cut.push(response)), cut };
}

describe("bytes of answers that were not taken", () => {
  it("[HTTP-240] count from the reservation on, and those that answers share count once", () => {
    const { held } = heldBytes();
    const [a, b] = [answer(), answer()];
    held.reserve(a, 60 * KIB);
    expect(held.bytes).toBe(60 * KIB);
    expect(held.ensureFits(b, 50 * KIB)).toBe(false);
    // in place of what it holds
    expect(held.ensureFits(a, 100 * KIB)).toBe(true);
    const page = Buffer.alloc(30 * KIB);
    held.hold(a, page);
    held.hold(b, page);
    expect(held.bytes).toBe(30 * KIB);
    held.release(a);
    held.release(a);
    expect(held.bytes).toBe(30 * KIB);
    held.release(b);
    expect(held.bytes).toBe(0);
    // one alone may be larger than the budget
    expect(held.ensureFits(a, 500 * KIB)).toBe(true);
  });

  it("[HTTP-240] of a stream wait until they fit, everybody's in order", async () => {
    const { held, cut } = heldBytes();
    const first = answer();
    held.reserve(first, 90 * KIB);
    const served: string[] = [];
    const waiting = ["a1", "a2", "b1"].map(async (name) => {
      const response = answer();
      await held.reserveWhenFree(response, { who: name.slice(0, 1), amount: 60 * KIB });
      served.push(name);
      held.release(response);
    });
    expect(served).toEqual([]);
    held.release(first);
    await Promise.all(waiting);
    expect(served).toEqual(["a1", "b1", "a2"]);
    expect(held.bytes).toBe(0);
    expect(cut).toEqual([]);
  });

  it("[HTTP-241] are not given away while their client has nothing to take", async () => {
    const { held, cut } = heldBytes();
    const [waiting, idle, other] = [answer(), answer(), answer()];
    // takes all that it is sent
    waiting.assignSocket(new PassThrough().resume() as unknown as Socket);
    await new Promise((resolve) => waiting.write(" ", resolve));
    held.reserve(waiting, 50 * KIB);
    held.hold(idle, Buffer.alloc(50 * KIB));
    await held.reserveWhenFree(other, { who: "a", amount: 40 * KIB });
    expect(cut).toEqual([idle]);
    expect(held.idleBytes).toBe(0);
  });

  it("[HTTP-241] are given to others once nothing was taken of them for 2 s", async () => {
    const { held, cut } = heldBytes();
    const [idle, other] = [answer(), answer()];
    held.hold(idle, Buffer.alloc(90 * KIB));
    expect(held.idleBytes).toBe(0);
    await held.reserveWhenFree(other, { who: "a", amount: 60 * KIB });
    expect(cut).toEqual([idle]);
    expect(held.bytes).toBe(60 * KIB);
  });
});
