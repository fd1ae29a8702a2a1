import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { BENCHES } from "../../bench/benches.ts";
import { HAS_NO_BROWSER } from "../helpers/page.ts";
import { sampleOf, seededRandom } from "../helpers/random.ts";
import { testSize } from "../helpers/size.ts";

const run = promisify(execFile);
const PROGRAM = new URL("../../bench/main.ts", import.meta.url).pathname;

/** Each bench at a small scale: that it still measures, not what. No time is judged here. */
describe("benches", () => {
  const usual = Object.keys(BENCHES).filter((name) => BENCHES[name]?.byDefault);
  const some = sampleOf(usual, testSize("benches"), seededRandom("benches"));

  const inBrowser = HAS_NO_BROWSER ? [] : ["web"];

  it.each([...some, ...inBrowser])("%s gives figures for each of its lines", async (name) => {
    const { stdout } = await run(process.execPath, [PROGRAM, name, "--json", "--scale", "0.005"]);
    const { benches } = JSON.parse(stdout);
    expect(benches).toMatchObject([{ bench: name }]);
    expect(benches[0].measurements.length).toBeGreaterThan(0);
    for (const { what, unit, ours, floor } of benches[0].measurements) {
      expect({ what, unit }).toEqual({ what: expect.any(String), unit: expect.any(String) });
      expect(ours, what).toSatisfy(Number.isFinite);
      expect(floor ?? 1, what).toSatisfy(Number.isFinite);
    }
  });

  it.each([["nothing"], ["--nothing"], ["--scale=0"]])(
    "lists the benches if %s is asked for, which does not exist",
    async (argument) => {
      await expect(run(process.execPath, [PROGRAM, argument])).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^npm run bench[^]+names: /),
      });
    },
  );
});
