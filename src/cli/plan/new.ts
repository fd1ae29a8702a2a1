import { Command } from "commander";

import type { PhasePlan } from "../../artifacts/phase-plan.ts";
import { newId } from "../../core/ids.ts";
import { printJson } from "../context.ts";
import type { CliContext } from "../context.ts";

/** `plan new`: prints a plan to begin with, valid and with the `runId` of a new run. */
export function newCommand(cli: CliContext): Command {
  return new Command("new")
    .description("print a plan to begin with, valid and with a fresh runId")
    .action(() => printJson(cli, skeleton(newId()), 2));
}

/** The roles are personas that come with Reprise. */
function skeleton(runId: string): PhasePlan {
  return {
    runId,
    phaseKey: "planning",
    phases: [
      {
        key: "design",
        title: "Design",
        role: "planner",
        instructions: "Say what has to be built and how it will be told that it works.",
        expected_artifact: { path: "docs/spec.json", schema: "dev/spec@1" },
      },
      {
        key: "build",
        title: "Build",
        role: "assistant",
        instructions: "Build what the design says, with tests.",
        depends_on: ["design"],
      },
      {
        key: "review",
        title: "Review",
        role: "reviewer",
        instructions: "Compare what was built with the design and list what falls short.",
        expected_artifact: { path: "docs/review.json", schema: "dev/review-finding-batch@1" },
        depends_on: ["build"],
      },
    ],
  };
}
