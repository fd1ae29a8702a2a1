import { describe, expect, it } from "vitest";

import { boundedFetch, TooLarge } from "../../src/mcp/bounded-fetch.ts";

/** Reads a stream of events with at most 100 bytes for each. */
async function read(text: string) {
  let broken = 0;
  const bounded = boundedFetch(100, () => (broken += 1));
  const address = `data:text/event-stream,${encodeURIComponent(text)}`;
  const error = await (await bounded(address)).text().then(
    () => null,
    (error: unknown) => error,
  );
  return { isBroken: error instanceof TooLarge, broken };
}

describe("[MCP-51] an event of a stream", () => {
  it.each(["\n", "\r\n", "\r"])("ends at an empty line, with lines that end in %j", async (end) => {
    const line = `data: ${"x".repeat(30)}${end}`;
    expect(await read(`${line}${end}`.repeat(20))).toEqual({ isBroken: false, broken: 0 });
    expect(await read(line.repeat(20))).toEqual({ isBroken: true, broken: 1 });
  });

  it("is not ended by the two characters of one end of a line", async () => {
    expect(await read(`${"x".repeat(60)}\r\n${"x".repeat(60)}`)).toMatchObject({ isBroken: true });
  });
});
