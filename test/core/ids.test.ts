import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { newId, parseSessionReference } from "../../src/core/ids.ts";
import { anyText } from "../helpers/any-text.ts";

describe("newId", () => {
  it("is a fresh UUIDv4 in lower case", () => {
    const ids = Array.from({ length: 1000 }, newId);

    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });
});

describe("parseSessionReference", () => {
  it("reads every UUID as an id, whatever its case", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.boolean(), (id, upper) => {
        expect(parseSessionReference(upper ? id.toUpperCase() : id)).toEqual({ kind: "id", id });
      }),
    );
  });

  it("reads the beginning of an id as a prefix from 6 characters on, and as too short before", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 35 }), (id, length) => {
        const prefix = id.slice(0, length);
        expect(parseSessionReference(prefix.toUpperCase())).toEqual(
          length < 6 ? { kind: "short" } : { kind: "prefix", prefix },
        );
      }),
    );
  });

  it("accepts nothing that holds a character that no id has", () => {
    fc.assert(
      fc.property(
        anyText({ maxLength: 40 }).filter((text) => /[^0-9a-fA-F-]/.test(text)),
        (text) => {
          expect(parseSessionReference(text)).toEqual({ kind: "none" });
        },
      ),
    );
  });

  it.each(["", "%", "______", "abcdef%", "abcdef\n", " abcdef", "ABCDEＦ", "0".repeat(37)])(
    "accepts nothing for %j",
    (text) => {
      expect(parseSessionReference(text)).toEqual({ kind: "none" });
    },
  );
});
