import { expect, it } from "vitest";

import { startProcess } from "../helpers/process.ts";

it("[PLANRUN-67] the demo of plans plans, runs, is killed, continues, is approved, reports and takes everything back, offline", async () => {
  const demo = startProcess(process.execPath, ["build/demo/plan.ts"], { input: "" });
  const { code, stdout, stderr } = await demo.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /A script answers[^]*\[scripted\] I am a script and not a model[^]*Nothing was stored[^]*kill -9[^]*interrupted, 1 of 3[^]*plan resume[^]*Begin phase review\?[^]*approve[^]*3 of 3 phases done[^]*# Run of plan[^]*undone notes\.js[^]*messages and checkpoints agree/,
  );
  expect(stdout).not.toContain("NOT OK");
});
