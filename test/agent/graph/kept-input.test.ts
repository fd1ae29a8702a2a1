import { Command } from "@langchain/langgraph";
import { expect, it } from "vitest";

import { describeEngine } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { ANSWERS, INPUTS, type InputName, statefulGraph } from "../../helpers/stateful-graph.ts";
import { expectVerified } from "../../helpers/verified.ts";

const NAMES = (Object.keys(INPUTS) as InputName[]).slice(0, testSize("graph-kinds"));
const stopped = { signal: AbortSignal.abort() };

describeEngine("what a graph is given", (engine) => {
  it.each(NAMES)(
    "[GRAPH-45] is not lost by a kill before its first checkpoint: %s",
    async (name) => {
      const { location, reprise, id } = await openOn(engine);
      // in a thread that has checkpoints, and in one that has none
      for (const { session } of [
        await reprise.run(id, statefulGraph(), "first"),
        { session: await reprise.sessions.create() },
      ]) {
        await startProgram("graph-input.ts", [location, session.id, name]).finished;
        expect(await reprise.sessions.get(session.id)).toMatchObject({ activity: "interrupted" });
        await expectVerified(location, session.id);
        const result = await reprise.run(session.id, statefulGraph(), null);
        expect(result).toMatchObject({
          state: "done",
          answer: expect.stringMatching(ANSWERS[name]) as string,
        });
        await expectVerified(location, session.id);
      }
    },
  );

  it("[GRAPH-45] is what was given last", async () => {
    const { reprise, id } = await openOn(engine);
    const graph = statefulGraph();
    for (const input of [
      INPUTS["values alone"](),
      "other",
      INPUTS["a Command that sends"](),
      "last",
    ]) {
      expect(await reprise.run(id, graph, input, stopped)).toMatchObject({ state: "stopped" });
    }
    expect(await reprise.run(id, graph, null)).toMatchObject({ answer: "last|undefined" });
    await expect(reprise.run(id, graph, null)).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
  });

  it("[GRAPH-46] is not done if it was stopped before the graph ran", async () => {
    const { location, reprise, id } = await openOn(engine);
    const graph = statefulGraph();
    await reprise.run(id, graph, "first");
    await reprise.sessions.append(id, "appended");
    const nothing = { state: "stopped", answer: "", messages: [] };
    expect(await reprise.run(id, graph, null, stopped)).toMatchObject(nothing);
    expect(await reprise.run(id, graph, null)).toMatchObject({ answer: "appended|undefined" });
    for (const command of [
      new Command({ goto: "special" }),
      new Command({ update: { file: "e" } }),
    ]) {
      expect(await reprise.run(id, graph, command, stopped)).toMatchObject(nothing);
    }
    await reprise.run(id, graph, new Command({ goto: "special" }), stopped);
    expect(await reprise.run(id, graph, null)).toMatchObject({ answer: "special undefined" });
    await expectVerified(location, id);
  });
});
