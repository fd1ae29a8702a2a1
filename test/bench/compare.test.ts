import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { compare, readKept } from "../../bench/compare.ts";
import type { Measurement } from "../../bench/measurement.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const PROGRAM = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));

const line = (changed: Partial<Measurement> = {}): Measurement => ({
  what: "time",
  unit: "ms",
  ours: 10,
  floor: 10,
  reach: { at_most: 2 },
  ...changed,
});
const reportOf = (...measurements: readonly Measurement[]) => ({
  scale: 1,
  benches: [{ bench: "plan", seconds: 1, measurements }],
});
const compared = (before: Measurement, now: Measurement) =>
  compare(reportOf(before), reportOf(now).benches);

describe("bench --against", () => {
  it.each([
    ["misses a target that it reached", line({ ours: 19 }), line({ ours: 20.5 })],
    ["takes more than a tenth longer", line(), line({ ours: 11.2 })],
    ["is 4 % more bytes", line({ unit: "bytes" }), line({ unit: "bytes", ours: 10.4 })],
    [
      "does less than nine tenths",
      line({ reach: { at_least: 0.5 } }),
      line({ reach: { at_least: 0.5 }, ours: 8.8 }),
    ],
  ])("finds a line that %s", (_, before, now) => {
    const { isWorse, lines } = compared(before, now);
    expect(isWorse).toBe(true);
    expect(lines).toEqual([expect.stringMatching(/^WORSE plan: time: \d\.\d\d -> \d\.\d\d, /)]);
  });

  it.each([
    ["takes a little longer", line(), line({ ours: 10.8 })],
    ["is better", line({ ours: 25 }), line({ ours: 9 })],
    ["still misses its target", line({ ours: 25 }), line({ ours: 26 })],
    ["has no target", line({ reach: null }), line({ reach: null, ours: 99 })],
  ])("finds nothing in a line that %s", (_, before, now) => {
    expect(compared(before, now)).toEqual({ isWorse: false, lines: [] });
  });

  it("names lines that are new or gone, of the benches that ran", () => {
    const kept = reportOf(line({ what: "old" }));
    const others = [...kept.benches, { ...kept.benches[0]!, bench: "start" }];
    const now = reportOf(line({ what: "fresh" })).benches;
    expect(compare({ scale: 1, benches: others }, now)).toEqual({
      isWorse: false,
      lines: ["new   plan: fresh", "gone  plan: old"],
    });
  });

  it.each([
    ["is not there", null, /cannot be read/],
    ["is no JSON", "{", /not a report/],
    ["is another JSON", '{"scale":1,"benches":[{"bench":"plan"}]}', /not a report/],
    ["has another scale", JSON.stringify({ ...reportOf(line()), scale: 0.5 }), /--scale 0\.5/],
  ])("refuses a file that %s, before anything runs", async (_, text, sentence) => {
    const file = join(temporaryFolder(), "kept.json");
    if (text !== null) {
      writeFileSync(file, text);
    }
    const run = promisify(execFile)(process.execPath, [PROGRAM, "plan", "--against", file]);
    await expect(run).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(sentence),
    });
  });

  it("reads a report that was kept", () => {
    const file = join(temporaryFolder(), "kept.json");
    writeFileSync(file, JSON.stringify(reportOf(line())));
    expect(readKept(file, 1)).toEqual(reportOf(line()));
  });
});
