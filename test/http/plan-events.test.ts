import { expect, it, onTestFinished } from "vitest";

import type { LiveEvent } from "../../src/core/schemas/live.ts";
import type { SessionEvent } from "../../src/core/schemas/session-events.ts";
import { readRunDetail } from "../../src/plans/run-detail.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { describeEngine } from "../helpers/engines.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { openLive } from "../helpers/live-reader.ts";
import { DIAMOND, PlanBench, phaseIn, storeRun } from "../helpers/plan-bench.ts";
import { startTestServer } from "../helpers/server.ts";
import { openEvents } from "../helpers/session-events.ts";

type PhaseEvent = Extract<SessionEvent, { event: "phase" }>;

function phasesIn(events: readonly SessionEvent[]): readonly PhaseEvent[] {
  return events.filter((each) => each.event === "phase");
}

type ShownPhase = Extract<LiveEvent, { event: "phase" }>;

function shownIn(events: readonly LiveEvent[]): readonly ShownPhase[] {
  return events.filter((each) => each.event === "phase");
}

describeEngine("changes of phases", (engine) => {
  it("[EVENTS-16] each has an event with the phase as the run shows it, whichever process makes it, and a reader that was away gets it", async () => {
    const server = await startModelServer({ answer: () => ({ content: "a result" }) });
    const database = await engine.create();
    const bench = await PlanBench.open(database, server);
    const t = await startTestServer({ store: await database.open() });
    onTestFinished(() => t[Symbol.asyncDispose]());
    const reader = await openEvents(t.url);
    const [reset] = await reader.until(({ event }) => event === "reset");
    const { id } = await storeRun({ store: bench.store, phases: DIAMOND });
    const first = await reader.until(
      (each) => each.event === "phase" && each.data.phase.key === "check",
    );
    expect(phasesIn(first)[0]?.data).toMatchObject({
      session_id: id,
      phase: { key: "design", state: "waiting", shown: "ready", attempt: 1, session_id: null },
    });
    await bench.run(id);
    const isDone = (each: SessionEvent): boolean =>
      each.event === "phase" && each.data.phase.key === "check" && each.data.phase.state === "done";
    const all = phasesIn(await reader.until(isDone));
    expect(all.at(-1)?.data.phase).toMatchObject({ shown: "done", model: "openai:gpt-test" });
    for (const { key } of DIAMOND) {
      const states = all.filter((each) => each.data.phase.key === key);
      expect(states.at(-1)?.data.phase).toMatchObject({ state: "done" });
    }
    const late = await openEvents(t.url, { lastId: reset!.id });
    const missed = phasesIn(await late.until(isDone));
    expect(new Set(missed.map(({ data }) => `${data.session_id} ${data.phase.key}`))).toEqual(
      new Set(DIAMOND.map(({ key }) => `${id} ${key}`)),
    );
    expect(missed).toHaveLength(DIAMOND.length);
    const end = await openEvents(t.url, { lastId: all.at(-1)!.id });
    await bench.store.write(
      (tx) => tx.db.deleteFrom("plan_runs").where("session_id", "=", id).execute(),
      null,
    );
    expect(phasesIn(end.events())).toEqual([]);
  });

  it("[LIVE-75] the live feed of a run has an event for each phase whose value changed, whichever process runs it", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        phaseIn(messages) === "build" ? { error: { message: "refused" } } : { content: "a result" },
    });
    const database = await engine.create();
    const bench = await PlanBench.open(database, server);
    const t = await startTestServer({
      store: await database.open(),
      token: "the-token",
      readToken: "to-read",
    });
    onTestFinished(() => t[Symbol.asyncDispose]());
    const { id } = await storeRun({ store: bench.store, phases: DIAMOND });
    const as = (token: string) =>
      openLive(t.url, id, { headers: { authorization: `Bearer ${token}` } });
    const [owner, reader] = [await as("the-token"), await as("to-read")];
    await owner.first(({ event }) => event === "snapshot");
    await reader.first(({ event }) => event === "snapshot");
    await expect(bench.run(id)).rejects.toMatchObject({ code: "phase_failed" });
    const isLast = (each: LiveEvent): boolean =>
      each.event === "exchange" && each.data.state === "failed";
    const found = shownIn(await owner.until(isLast));
    expect(found.map(({ data }) => `${data.key} ${data.shown}`)).toEqual(
      expect.arrayContaining(["design done", "docs done", "build failed", "check blocked"]),
    );
    const last = new Map(found.map(({ data }) => [data.key, data]));
    const { phases } = await bench.store.read(readRunDetail, { reference: id });
    expect(phases.map(({ key }) => last.get(key))).toEqual(phases);
    const hidden = shownIn(await reader.until(isLast)).findLast(({ data }) => data.error !== null);
    expect(hidden?.data.error).toEqual({
      code: "model_failed",
      sentence: expect.stringContaining("Only its code is shown") as string,
    });
    // a reader that connects now is shown no phase as news
    const late = await as("the-token");
    await late.first(({ event }) => event === "snapshot");
    await bench.store.write(appendUserMessage, { reference: id, content: "anybody?" });
    await late.first(({ event }) => event === "message");
    expect(shownIn(late.events())).toEqual([]);
  });
});
