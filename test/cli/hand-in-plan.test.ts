import { expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { phaseIn } from "../helpers/plan-bench.ts";
import { freshHome } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";
import { openTerminal } from "../helpers/terminal.ts";

const RUN = "3f2c8a54-6f0e-4f6b-9d43-0b1f3c1e7a90";
const PLAN = {
  runId: RUN,
  phaseKey: "planning",
  phases: [
    { key: "build", title: "Build", role: "assistant", instructions: "Build all of it." },
    {
      key: "check",
      title: "Check",
      role: "reviewer",
      instructions: "Check all of it.",
      depends_on: ["build"],
    },
  ],
};

it("[PLANRUN-66] a conversation in a terminal asks whether to run the plan that was handed in, and runs it only after a yes", async () => {
  const server = await startModelServer({
    answer: (messages) => {
      const phase = phaseIn(messages);
      if (phase !== null) {
        return { content: `${phase} is done` };
      }
      return messages.at(-1)?.role === "user"
        ? {
            toolCalls: [
              {
                name: "hand_in_plan",
                arguments: JSON.stringify({ content: JSON.stringify(PLAN) }),
              },
            ],
          }
        : { content: "handed in" };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const terminal = openTerminal(home, "reprise --plan --persona planner");
  await terminal.shows(/\n> $/);
  terminal.type("plan it\r");
  await terminal.shows(/Run the plan with: reprise plan run \.reprise[^]*Run this plan\? y\/N $/);
  terminal.type("\r");
  await terminal.shows(/\n> $/);
  expect((await home.call(["plan", "runs"])).stdout).toBe("");
  terminal.type("plan it\r");
  await terminal.shows(/Run this plan\? y\/N $/);
  terminal.type("y\r");
  await terminal.shows(/2 of 2 phases done[^]*\n> $/);
  terminal.type("/exit\r");
  expect((await terminal.finished).code).toBe(0);
  expect((await home.call(["plan", "runs"])).stdout).toContain("done");
});

it("[PERMISSION-76] [PERMISSION-78] a plan that the agent hands in is shown by the program, the session and plan show", async () => {
  const contents = [PLAN, { ...PLAN, phases: [{ key: "Build" }] }].map((plan) =>
    JSON.stringify(plan),
  );
  const server = await startModelServer({
    answer: (messages) => {
      const content = contents[messages.filter(({ role }) => role === "tool").length];
      return content === undefined
        ? { content: "handed in" }
        : { toolCalls: [{ name: "hand_in_plan", arguments: JSON.stringify({ content }) }] };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const planned = await home.call(["--plan", "--persona", "planner", "-p", "plan it"]);
  expect(planned).toMatchObject({ code: 0, stdout: "handed in\n" });
  const path = `.reprise/plans/${RUN}.json`;
  expect(planned.stderr).toContain(`Run the plan with: reprise plan run ${path}\n`);
  expect(planned.stderr).toContain(`· hand_in_plan returned: the plan is stored as ${path}`);
  expect(planned.stderr).toContain("· hand_in_plan failed: the plan is not valid");
  const [session] = await sessionsOf(home);
  const shown = await home.call(["sessions", "show", session?.id ?? ""]);
  expect(shown.stdout).toContain(
    `the plan is stored as ${path}: 2 phases in 2 waves\nwave 1: build`,
  );
  expect((await home.call(["plan", "show", path])).stdout).toContain("  build -> check\n");
  const explained = await home.call(["permission", "explain", "hand_in_plan"]);
  expect(explained.stdout).toBe("allow: rule hand_in_plan (built-in)\n");
});
