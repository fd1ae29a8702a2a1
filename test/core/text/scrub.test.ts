import { describe, expect, it } from "vitest";

import { createScrub, withoutRepeated } from "../../../src/core/text/scrub.ts";

const KEY = "sk-proj-Zq8Xv2Lm9Rt4Wp7Ks1Nd6Hb3";

describe("a text of somebody else, without secrets", () => {
  const scrub = createScrub([
    { name: "A", value: KEY },
    { name: "B", value: "geheim" },
    { name: "C", value: "pä§ß-wörd%20!" },
  ]);

  it.each([
    "tools.3.custom.input_schema: JSON schema is 'invalid' at line 12, column 40",
    "model 'claude-sonnet-5-5-20260101' is retired, use claude-opus-5-5 instead",
    "50% of [10, 20, 30, 40, 50, 60, 70, 80, 90] failed &amp; more: C:\\new\\x86\\u",
    "max_tokens: 8192 > 4096, the maximum of this_very_long_model_name_of_words",
    "ungeheim, geheimnis, Geheim",
    "wait... then **send** it again … with max_tokens: 4096",
  ])("[CLI-37] keeps what is none: %s", (text) => {
    expect(scrub(text)).toBe(text);
  });

  it.each([
    ["(geheim)", "([…])"],
    ["sk-…6Hb3.", "[…]."],
    ["sk-proj****Hb3", "[…]"],
    ["it ends in 6Hb3", "it ends in […]"],
    ["%67%65%68%65%69%6d.", "[…]."],
    [`a ${encodeURIComponent("pä§ß-wörd%20!")} b`, "a […] b"],
    ["a PÄ§SS-WÖRD%20! b", "a […] b"],
    [`<${KEY.slice(8).split("").join("-")}>`, "<[…]>"],
    [`Bearer ${KEY.slice(0, 7)}\n${KEY.slice(7)}`, "[…]"],
  ])("[CLI-37] leaves nothing of one: %s", (text, left) => {
    expect(scrub(text)).toBe(left);
  });

  it("[CLI-37] ends soon if the text and the request repeat themselves", () => {
    const text = `${"a".repeat(31)}bcdef`.repeat(110);
    expect(withoutRepeated(text, ["a".repeat(1_000_000)])).toBe(text);
    expect(withoutRepeated("a".repeat(4000), ["a".repeat(1_000_000)])).toBe("[…]");
  });
});
