import { Command } from "commander";

import type { PhasePlan } from "../../../artifacts/plans/phase-plan.ts";
import { newId } from "../../../core/ids.ts";
import { printJson, type CliContext } from "../../process/context.ts";

/** `plan new`: prints a plan to begin with, valid and with the `runId` of a new run. */
export function newCommand(cli: CliContext): Command {
  return new Command("new")
    .description("print a valid plan to start from, with a new runId")
    .action(() => printJson(cli, skeleton(newId()), 2));
}

/** The roles are personas that come with Reprise; those with an artifact can write it. */
function skeleton(runId: string): PhasePlan {
  return {
    runId,
    phaseKey: "planning",
    phases: [
      {
        key: "design",
        title: "Design",
        role: "assistant",
        instructions: "Write down what has to be built and how to check that it works.",
        expected_artifact: { path: "docs/spec.json", schema: "dev/spec@1" },
      },
      {
        key: "build",
        title: "Build",
        role: "assistant",
        instructions: "Build what the design describes, with tests.",
        depends_on: ["design"],
      },
      {
        key: "review",
        title: "Review",
        role: "reviewer",
        instructions: "Compare the result with the design and answer with what falls short.",
        depends_on: ["build"],
      },
      {
        key: "report",
        title: "Report",
        role: "assistant",
        instructions: "Write down what the review found, as docs/review.json.",
        expected_artifact: { path: "docs/review.json", schema: "dev/review-finding-batch@1" },
        depends_on: ["review"],
      },
    ],
  };
}
