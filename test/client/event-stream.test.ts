import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createEventStreamReader, type StreamEvent } from "../../src/client/event-stream.ts";

/** All events of a text that arrives in the given pieces. */
function readPieces(pieces: readonly string[]): StreamEvent[] {
  const read = createEventStreamReader();
  return pieces.flatMap((piece) => read(piece));
}

const message = (data: string, id = "") => ({ event: "message", id, data });

describe("the event stream reader", () => {
  it("[HTTP-49] reads fields as the standard says", () => {
    const cases: [string, StreamEvent[]][] = [
      ["data: a\n\n", [message("a")]],
      ["data:a\n\n", [message("a")]],
      ["data:  a\n\n", [message(" a")]],
      ["data\n\n", [message("")]],
      ["data: a\ndata: b\ndata\n\n", [message("a\nb\n")]],
      ["\uFEFFdata: a\n\n", [message("a")]],
      ["data: a\n\n\uFEFFdata: b\n\n", [message("a")]],
      [": comment\ndata: a\n:\n\n", [message("a")]],
      [
        "event: other\ndata: a\n\ndata: b\n\n",
        [{ event: "other", id: "", data: "a" }, message("b")],
      ],
      [
        "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
        [message("a", "1"), message("b", "1"), message("c", "")],
      ],
      ["id: 1\n\nid: x\0y\ndata: a\n\n", [message("a", "1")]],
      ["retry: 5\nfoo: bar\ndata: a\n\n", [message("a")]],
      ["event: x\n\ndata: a\n\n", [message("a")]],
      ["data: a: b\n\n", [message("a: b")]],
      ["data: unfinished\n", []],
      ["\n\n\n", []],
    ];
    for (const [text, events] of cases) {
      expect(readPieces([text]), JSON.stringify(text)).toEqual(events);
    }
  });

  it("[HTTP-49] takes CR, LF and CRLF alike, cut anywhere", () => {
    const fields = fc.constantFrom(
      "data: a",
      "data: b:c",
      "data",
      "id: 7",
      "event: x",
      ": note",
      "",
      "",
    );
    fc.assert(
      fc.property(
        fc.array(fields, { maxLength: 20 }),
        fc.array(fc.constantFrom("\n", "\r\n", "\r"), { minLength: 20, maxLength: 20 }),
        fc.array(fc.nat({ max: 200 }), { maxLength: 10 }),
        (lines, ends, cuts) => {
          const expected = readPieces([lines.map((line) => `${line}\n`).join("")]);
          const text = lines.map((line, index) => line + ends[index]).join("");
          const places = [
            0,
            ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b),
            text.length,
          ];
          const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
          // CR and LF side by side are one end of a line: only texts where they are not are equal
          fc.pre(
            !/\r\n/.test(
              lines.map((line, index) => (ends[index] === "\r" ? `${line}\r` : "x")).join(""),
            ),
          );
          const ambiguous = lines.some(
            (line, index) =>
              index > 0 && line === "" && ends[index - 1] === "\r" && ends[index]?.startsWith("\n"),
          );
          fc.pre(!ambiguous);
          expect(readPieces(pieces)).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("[HTTP-49] reads a long line in many pieces", () => {
    const data = "x".repeat(100_000);
    const pieces = Array.from({ length: 1000 }, (_, index) =>
      data.slice(index * 100, index * 100 + 100),
    );
    expect(readPieces(["data: ", ...pieces, "\r", "\n\r", "\n"])).toEqual([message(data)]);
  });
});
