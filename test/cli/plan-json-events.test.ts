import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Value } from "typebox/value";
import { expect, it } from "vitest";

import { ExchangeEvent } from "../../src/exchange/events.ts";
import { callProgram } from "../helpers/call-program.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { phase, phaseIn } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

it("[PLANRUN-118] prints the events of a run as lines of JSON and nothing else, with each state of its phases", async () => {
  const cwd = temporaryFolder();
  let fails = true;
  const server = await startModelServer({
    answer: (messages) =>
      fails && phaseIn(messages) === "second"
        ? { error: { message: "no" }, status: 400 }
        : { content: "a result" },
  });
  const env = { HOME: temporaryFolder(), ...server.env("openai"), REPRISE_MODEL: "openai:gpt" };
  const runId = crypto.randomUUID();
  const phases = [phase("first"), phase("second", ["first"])];
  writeFileSync(join(cwd, "plan.json"), JSON.stringify({ runId, phaseKey: "planning", phases }));
  const call = async (...args: string[]) => {
    const called = await callProgram(["plan", ...args], { script: "reprise", cwd, env });
    const events = called.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as ExchangeEvent);
    expect(events.filter((event) => !Value.Check(ExchangeEvent, event))).toEqual([]);
    const shown = events.flatMap((event) =>
      event.type === "phase" ? [`${event.key} ${event.attempt} ${event.state}`] : [event.type],
    );
    return { ...called, events, shown: shown.filter((type) => type !== "message") };
  };
  const ran = await call("run", "plan.json", "--approve", "second", "--json=events");
  expect(ran.code).toBe(7);
  expect(ran.shown).toEqual([
    "started",
    "first 1 running",
    "child",
    "first 1 done",
    "second 1 approval",
    "waiting",
  ]);
  await callProgram(["sessions", "answer", ran.events[0]?.session_id ?? "", "approve"], {
    script: "reprise",
    cwd,
    env,
  });
  const resumed = await call("resume", runId, "--json=events");
  expect([resumed.code, resumed.shown]).toEqual([
    1,
    ["started", "second 1 waiting", "second 1 running", "child", "second 1 failed", "failed"],
  ]);
  expect(resumed.events.at(-2)).toMatchObject({
    error: { sentence: expect.any(String) as string },
  });
  expect(resumed.events.at(-1)).toMatchObject({ code: "phase_failed" });
  fails = false;
  const retried = await call("retry", runId, "--json=events");
  expect(retried.code).toBe(7);
  expect(retried.shown).toEqual(["started", "second 2 approval", "waiting"]);
  for (const option of ["--detach", "--dry-run"]) {
    const refused = await call("run", "plan.json", option, "--json=events");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(option)]);
  }
});
