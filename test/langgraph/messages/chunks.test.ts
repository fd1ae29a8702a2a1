import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { chunksOf } from "../../../src/langgraph/messages/chunks.ts";
import { largeValues } from "../../helpers/checkpoints/large-values.ts";
import { randomOf } from "../../helpers/random.ts";

describe("chunks of a text", () => {
  it("make up the text, and none ends within a character", () => {
    const piece = fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("😀".repeat(700)));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(100), (pieces, times) => {
        const text = pieces.join("").repeat(times);
        const chunks = chunksOf(text);
        expect(chunks.join("")).toBe(text);
        expect(chunks.every((chunk) => chunk.isWellFormed())).toBe(true);
      }),
    );
  });

  it.each([
    { size: 50_000, edits: 20, fewest: 12, most: 50, changed: 5000 },
    { size: 1_000_000, edits: 4, fewest: 60, most: 250, changed: 40_000 },
  ])(
    "are few, and few of them change with an edit: $size",
    ({ size, edits, fewest, most, changed }) => {
      for (const [name, value] of Object.entries(largeValues(randomOf(size)))) {
        let now = value.make(size);
        let total = 0;
        for (let edit = 0; edit < edits; edit += 1) {
          const known = new Set(chunksOf(JSON.stringify(now)));
          expect(known.size, name).toBeGreaterThan(fewest);
          expect(known.size, name).toBeLessThan(most);
          now = value.edit(now as never);
          total += chunksOf(JSON.stringify(now))
            .filter((chunk) => !known.has(chunk))
            .join("").length;
        }
        expect(total / edits, name).toBeLessThan(changed);
      }
    },
  );

  it("are bounded in a text that never changes", () => {
    const chunks = chunksOf("x".repeat(50_000));
    expect(chunks.length).toBeLessThan(50);
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(8192);
  });
});
