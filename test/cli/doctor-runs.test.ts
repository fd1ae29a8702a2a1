import { expect, it } from "vitest";

import { runsCheck } from "../../src/cli/commands/doctor/runs.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { phase, storeRun } from "../helpers/plan-bench.ts";
import { hasSandbox } from "../helpers/plan-lives.ts";
import { freshHome } from "../helpers/reprise.ts";

interface Doctor {
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly sentence: string;
  }[];
}

it("[PLANRUN-105] doctor names the runs that are not done", async () => {
  const home = freshHome();
  const runs = async () => {
    const { checks } = await home.json<Doctor>(["doctor", "--quick", "--json"]);
    return checks.find(({ name }) => name === "runs");
  };
  await using store = await openStoreAt(home.database);
  expect(await runs()).toMatchObject({ status: "ok", sentence: "Every run of a plan is done." });
  const { id } = await storeRun({ store, phases: [phase("build")] });
  expect(await runs()).toMatchObject({
    status: "ok",
    sentence: `Not done: 1 run of plans (${id.slice(0, 8)}). Continue one with \`reprise plan resume\`.`,
  });
  await storeRun({ store, phases: [phase("build")], checks: { all: [["true"]] } });
  expect(await runs()).toMatchObject({ status: hasSandbox ? "ok" : "warning" });
});

it("[PLANRUN-105] doctor warns of runs with checks if there is no sandbox", () => {
  const runs = [
    { session_id: "aaaaaaaa-1", has_checks: true },
    { session_id: "bbbbbbbb-2", has_checks: false },
  ];
  expect(runsCheck(runs, "bwrap is not installed (package bubblewrap)")).toEqual({
    name: "runs",
    status: "warning",
    sentence:
      "Not done, with checks, which need a sandbox: 1 run of plans (aaaaaaaa). They cannot be continued here: bwrap is not installed (package bubblewrap).",
  });
  expect(runsCheck(runs.slice(1), "none").status).toBe("ok");
});
