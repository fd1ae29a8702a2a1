import { expect, it } from "vitest";

import { readRunDetail } from "../../../src/plans/run-detail.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { statementsOf } from "../../helpers/count-statements.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { DIAMOND, phase, PlanBench, storeRun } from "../../helpers/plan-bench.ts";

describeEngine("the detail of a run", (engine) => {
  it("[PLANRUN-45] has the model and the tokens of each phase, and needs as many statements for many phases as for one", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10 };
    const server = await startModelServer({ answer: () => ({ content: "a result", usage }) });
    const bench = await PlanBench.open(await engine.create(), server);
    const { store } = bench;
    const counts: number[] = [];
    for (const phases of [[phase("one")], DIAMOND]) {
      const { id } = await storeRun({ store, phases });
      await bench.run(id);
      const { statements } = await statementsOf(async () => {
        const detail = await store.read(readRunDetail, { reference: id });
        expect(detail.phases).toHaveLength(phases.length);
        for (const each of detail.phases) {
          expect(each).toMatchObject({
            model: "openai:gpt-test",
            usage: { calls: 1, input_tokens: 100, output_tokens: 10 },
            cost_micros: null,
            files: [],
          });
        }
      });
      counts.push(statements.length);
    }
    expect(counts[1]).toBe(counts[0]);
  });

  it("[PLANRUN-47] lists the messages that no model gets, and finds a run by its session before one with such a runId", async () => {
    const server = await startModelServer({ answer: () => ({ content: "a result" }) });
    const bench = await PlanBench.open(await engine.create(), server);
    const { store } = bench;
    const { id } = await storeRun({ store, phases: [phase("one")] });
    await storeRun({ store, phases: [phase("other")], runId: id });
    await store.write(appendUserMessage, { reference: id, content: "é".repeat(300) });
    await bench.run(id);
    const detail = await store.read(readRunDetail, { reference: id });
    expect(detail).toMatchObject({
      session_id: id,
      state: "done",
      unread: [{ seq: 2, content: "é".repeat(200) }],
    });
  });
});
