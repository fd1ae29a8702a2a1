import { expect, it } from "vitest";

import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { planOf, REAL_PLANS } from "../../helpers/artifacts/real-plans.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { PlanBench, phaseIn, storeRun } from "../../helpers/plan-bench.ts";
import { testSize } from "../../helpers/size.ts";

describeEngine("an imported plan that is run", (engine) => {
  const plans = REAL_PLANS.slice(0, testSize("real-plans"));
  const cases = plans.flatMap((real) => [1, 4].map((parallel) => ({ ...real, parallel })));

  it.each(cases)(
    "[PLANRUN-65] $file with --parallel $parallel reaches its end, each phase after those that it depends on",
    async ({ parallel, ...real }) => {
      const server = await startModelServer({
        answer: (messages) => ({ content: `${phaseIn(messages)} is done` }),
      });
      const bench = await PlanBench.open(await engine.create(), server);
      const { runId, phases } = planOf(real);
      const { id } = await storeRun({ store: bench.store, phases, runId, options: { parallel } });
      expect((await bench.run(id)).state).toBe("done");
      const begun = server.requests().map(phaseIn);
      expect(begun).toHaveLength(phases.length);
      expect(new Set(begun)).toEqual(new Set(phases.map(({ key }) => key)));
      for (const { key, depends_on = [] } of phases) {
        const before = begun.slice(0, begun.indexOf(key));
        expect(depends_on.filter((other) => !before.includes(other))).toEqual([]);
      }
      const { phases: stored } = await bench.store.read(readRun, { reference: id });
      expect(stored.every(({ state }) => state === "done")).toBe(true);
      expect((await verifySession(bench.store, id)).findings).toEqual([]);
    },
  );
});
