import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson } from "../../../src/artifacts/sources/json-source.ts";
import { createLineIndex } from "../../../src/artifacts/line-index.ts";
import { findPosition, toValue, type ParsedSource } from "../../../src/artifacts/sources/source.ts";
import { testLevel, testSize } from "../../helpers/size.ts";

function read(text: string): ParsedSource {
  return readJson(text, createLineIndex(text));
}

/** The value that JSON.parse makes of the text; undefined when it refuses the text. */
function reference(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const STRINGS = ['"', '"a"', '"\\n"', '"\\u00e4"', '"\\ud800"', '"\\x"', '"\\u12"', '"\u0001"'];
const WORDS = ["true", "false", "null", "nul", "NaN", "1e999", "-0", '{"a":1}', "[1,2]", '"b":'];

describe("readJson", () => {
  it("reads every document as JSON.parse does", () => {
    const spacing = fc.constantFrom(undefined, 1, "\t");
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), spacing, (value, space) => {
        const text = JSON.stringify(value, null, space);
        const { root, findings } = read(text);
        expect(findings).toEqual([]);
        expect(root === null ? undefined : toValue(root)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("takes and refuses the same texts as JSON.parse", () => {
    const piece = fc.constantFrom(
      ...Array.from("{}[]:,0123456789-+.eE \n\r\t\u00a0\f'/\\"),
      ...STRINGS,
      ...WORDS,
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join("");
        const { root, findings } = read(text);
        const expected = reference(text);
        expect(root === null ? undefined : toValue(root)).toEqual(expected);
        if (expected === undefined) {
          expect(findings).toHaveLength(1);
        }
      }),
      { numRuns: testSize("documents") },
    );
  });

  it("knows the position of every value", () => {
    const text = '{\r\n  "a/b": [1,\n {"~": "x"}]}';
    const { root } = read(text);
    const lines = createLineIndex(text);
    const item = findPosition(root!, "/a~1b/1/~0")!;
    expect(lines(item.keyStart)).toEqual({ line: 3, column: 3 });
    expect(lines(item.value.start)).toEqual({ line: 3, column: 8 });
    expect(lines(findPosition(root!, "/a~1b")!.keyStart)).toEqual({ line: 2, column: 3 });
    expect([
      findPosition(root!, "/a"),
      findPosition(root!, "/a~1b/2"),
      findPosition(root!, "/a~1b/0/x"),
    ]).toEqual([undefined, undefined, undefined]);
  });

  it("finds every property given twice and keeps the last, as JSON.parse does", () => {
    const { root, findings } = read('{"a": 1,\n"b": {"a": 2, "a": 3},\n"a": 4}');
    expect(findings).toMatchObject([
      { code: "duplicate_property", pointer: "/b/a", line: 2, column: 15, first_line: 2 },
      { code: "duplicate_property", pointer: "/a", line: 3, column: 1, first_line: 1 },
    ]);
    expect(toValue(root!)).toEqual({ a: 4, b: { a: 3 } });
  });

  it("keeps __proto__ an ordinary property", () => {
    const value = toValue(read('{"__proto__": {"x": 1}}').root!);
    expect(Object.keys(Object(value))).toEqual(["__proto__"]);
  });

  it("reads strings and numbers of a megabyte", () => {
    const string = JSON.stringify("\n".repeat(1_000_000));
    const number = "1".repeat(1_000_000);
    const { root } = read(`[${string}, ${number}]`);
    expect(toValue(root!)).toEqual(["\n".repeat(1_000_000), Infinity]);
  });

  it.skipIf(testLevel() === "test")("[PLAN-5] refuses more than two million values", () => {
    expect(read(`[${"1,".repeat(1_999_998)}1]`).findings).toEqual([]);
    expect(read(`[${"1,".repeat(1_999_999)}1]`).findings).toMatchObject([
      { code: "too_many_values", line: 1, column: 4_000_000 },
    ]);
  });
});
