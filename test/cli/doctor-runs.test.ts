import { expect, it } from "vitest";

import { runsCheck } from "../../src/cli/commands/doctor/runs.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { phase, reportFolder, reporting, storeRun } from "../helpers/plan-bench.ts";
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

it("[PLANRUN-105] doctor says how a run that failed is continued, beside conversations", async () => {
  const server = await startModelServer({ answer: () => ({ content: "no artifact" }) });
  const home = freshHome(server.env("openai"));
  await using store = await openStoreAt(home.database);
  const phases = [reporting("review", "review.json")];
  const { id } = await storeRun({ store, repo: reportFolder(), phases });
  expect(await home.call(["plan", "resume", id])).toMatchObject({ code: 1 });
  const { checks } = await home.json<Doctor>(["doctor", "--quick", "--json"]);
  const { sentence = "" } = checks.find(({ name }) => name === "exchanges") ?? {};
  expect(sentence).toContain("Continue runs of plans with `reprise plan resume`. Nothing that was");
  expect(sentence).not.toContain("--session");
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
