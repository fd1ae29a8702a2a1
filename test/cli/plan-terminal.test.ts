import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { phase } from "../helpers/plan-bench.ts";
import { freshHome } from "../helpers/reprise.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";

const PROMPT = "Answer, or nothing to leave it open: $";

it("[PLANRUN-38] [PLANRUN-39] [PLANRUN-84] a terminal asks about approvals itself, draws the phases over the last ones, and opens a run to watch it", async () => {
  const server = await startModelServer({ answer: () => ({ content: "a result" }) });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
  const phases = [phase("first"), phase("second", ["first"]), phase("third", ["second"])];
  const runId = crypto.randomUUID();
  const plan = { runId, phaseKey: "planning", phases };
  writeFileSync(join(home.project, "plan.json"), JSON.stringify(plan));
  const terminal = openTerminal(
    home,
    "reprise plan run plan.json --approve second --approve third",
  );
  await terminal.shows(new RegExp(`Begin phase second\\?[^]*${PROMPT}`));
  terminal.type("perhaps\r");
  await terminal.shows(new RegExp(`That is not one of the choices[^]*${PROMPT}`));
  terminal.type("approve\r");
  await terminal.shows(new RegExp(`Begin phase third\\?[^]*${PROMPT}`));
  terminal.type(CTRL_D);
  const { code, screen } = await terminal.finished;
  expect(code).toBe(7);
  expect(screen).toMatch(/leave it open: *\n.*waiting, 2 of 3 phases done, asks in third/);
  expect(screen).toContain("Then continue with:");
  expect(screen.split("Begin phase third?")).toHaveLength(2);
  // a line for the run and one for each phase
  expect(terminal.written()).toContain("\u001b[4A\r\u001b[J");

  const { stdout } = await home.call(["plan", "status", runId, "--json"]);
  const { session_id } = JSON.parse(stdout) as RunDetail;
  const opened = openTerminal(home, `reprise --session ${session_id}`);
  await opened.shows(/Begin phase third\?/);
  expect((await opened.finished).code).toBe(7);
  expect((await home.call(["sessions", "answer", session_id, "approve"])).code).toBe(0);
  expect((await home.call(["plan", "resume", runId])).code).toBe(0);
});
