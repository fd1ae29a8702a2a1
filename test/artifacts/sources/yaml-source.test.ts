import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createLineIndex } from "../../../src/artifacts/line-index.ts";
import { toValue } from "../../../src/artifacts/sources/source.ts";
import { readYaml } from "../../../src/artifacts/sources/yaml-source.ts";
import { testLevel } from "../../helpers/size.ts";

/** What the text says as JSON, or its findings. */
function read(text: string): string {
  const { root, findings } = readYaml(text, createLineIndex(text));
  if (root !== null && findings.length === 0) {
    return JSON.stringify(toValue(root));
  }
  return findings.map(({ line, column, message }) => `${line}:${column} ${message}`).join("\n");
}

const ODD_NAME = "a property's name must be a word here; write it in quotes";
const TAG = "tags are not taken here; write the value without one";

/** For the tortures: counted as the last one of the table, which takes a second each. */
const COUNTED: [string, string][] = [
  ["- '\n", "250000:4"],
  ['"\\q" ', "1:2500000"],
];

describe("readYaml", () => {
  it("[PLAN-2] reads every JSON document as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 2), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(read(text)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["a: .nan", "1:4 JSON has no number .nan; write another value"],
    ["a: -.INF", "1:4 JSON has no number -.INF; write another value"],
    ["~: 1", `1:1 ${ODD_NAME}`],
    ["? [1]\n: 2", `1:3 ${ODD_NAME}`],
    ["a: !!str 1", `1:4 ${TAG}`],
    ["a: !!set {x}", `1:4 ${TAG}`],
    ["a: &x 1\nb: *x", "2:4 aliases are not taken here; write the value out"],
    ["a: 1\n---\nb: 2", "2:1 a file holds one document; remove this one"],
    ["", "1:1 the file is empty; write a YAML document in it"],
    ["1: 0x1F\ntrue: yes\nnull : 2026-01-01", `3:1 ${ODD_NAME}`],
    ["1: 0x1F\ntrue: yes\nno: 2026-01-01", '{"1":31,"true":"yes","no":"2026-01-01"}'],
    ["a: 1\n...\n# the end\n", '{"a":1}'],
    ["\ufeffa: 1\r\nb: 2", '{"a":1,"b":2}'],
    ["__proto__: 1\nconstructor: 2", '{"__proto__":1,"constructor":2}'],
  ])("[PLAN-2] [PLAN-54] reads or refuses %j as JSON would", (text, said) => {
    expect(read(text)).toBe(said);
  });

  it.each<[string, string]>([
    ["]", "1:1"],
    ["[,", "1:129"],
    ["---\n", "2:1"],
    ["- !t x\n", "1:3"],
    ["- *a\n", "1:3"],
    ["[", "1:65"],
    ["- ", "1:129"],
    ["{a: ", "1:257"],
    ["[a: ", "1:257"],
    ...(testLevel() === "test" ? [] : COUNTED),
  ])("[PLAN-5] [PLAN-58] 3 MiB of only %j are refused early with one finding", (part, place) => {
    const text = part.repeat((3 * 1024 * 1024) / part.length);
    expect(read(text)).toMatch(new RegExp(`^${place} [^\\n]+$`));
  });

  it("[PLAN-2] accepts a text that only looks like an alias or a tag", () => {
    expect(read("--- |\n*a\n!b")).toBe('"*a\\n!b\\n"');
    expect(read('a: "*a"\nb: x *a !b')).toBe('{"a":"*a","b":"x *a !b"}');
  });
});
